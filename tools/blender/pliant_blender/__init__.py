"""Pliant in Blender: import a result as animated meshes, mark objects and export them as a scene file.

Needs nothing but Blender (4.2 or newer) and the NumPy that comes with it.
"""

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from . import playing, results, scenes

KINDS = [
    ("none", "Nothing", "Pliant does not see it"),
    ("solid", "Solid", "A closed mesh, filled with tetrahedra"),
    ("cloth", "Cloth", "A sheet"),
    ("rigid", "Rigid body", "A closed mesh that does not deform"),
    ("obstacle", "Obstacle", "Bodies run into it"),
]


class PliantSettings(bpy.types.PropertyGroup):
    """What an object is in a scene of Pliant."""

    kind: EnumProperty(items=KINDS, name="Kind")
    youngs_modulus: FloatProperty(name="Young's modulus [Pa]", default=1e5, min=1.0)
    poissons_ratio: FloatProperty(name="Poisson's ratio", default=0.4, min=0.0, max=0.49)
    density: FloatProperty(name="Density [kg/m³]", default=1000.0, min=1e-6)
    thickness: FloatProperty(name="Thickness [m]", default=1e-3, min=1e-6, description="Of a sheet")
    bending: FloatProperty(name="Bending [N m]", default=1e-5, min=0.0, description="Of a sheet")
    edge_length: FloatProperty(name="Edge length [m]", default=0.05, min=1e-6, description="Of a solid's tetrahedra")
    friction: FloatProperty(name="Friction", default=0.3, min=0.0)
    pinned: StringProperty(name="Pinned group", description="Vertex group that stays where it is; sheets only")


#: Settings that the panel shows for each kind.
SHOWN = {
    "solid": ("youngs_modulus", "poissons_ratio", "density", "edge_length", "friction"),
    "cloth": ("youngs_modulus", "poissons_ratio", "density", "thickness", "bending", "friction", "pinned"),
    "rigid": ("density", "friction"),
    "obstacle": ("friction",),
}


class PLIANT_PT_object(bpy.types.Panel):
    """Settings of the active object."""

    bl_label = "Pliant"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context):
        settings = context.object.pliant
        self.layout.prop(settings, "kind")
        for name in SHOWN.get(settings.kind, ()):
            self.layout.prop(settings, name)


class PLIANT_OT_import(bpy.types.Operator, ImportHelper):
    """Import a result as a mesh per body that follows the timeline"""

    bl_idname = "import_scene.pliant"
    bl_label = "Import Pliant result"
    filename_ext = ".npz"
    filter_glob: StringProperty(default="*.npz", options={"HIDDEN"})

    def execute(self, context):
        try:
            objects = playing.add_result(context, self.filepath)
        except results.ResultError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{len(objects)} bodies")
        return {"FINISHED"}


class PLIANT_OT_export(bpy.types.Operator, ExportHelper):
    """Export the marked objects as a scene file, with their meshes beside it"""

    bl_idname = "export_scene.pliant"
    bl_label = "Export Pliant scene"
    filename_ext = ".toml"
    filter_glob: StringProperty(default="*.toml", options={"HIDDEN"})
    duration: FloatProperty(name="Duration [s]", default=2.0, min=0.01)

    def execute(self, context):
        try:
            count = scenes.write(context, self.filepath, self.duration)
        except scenes.SceneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{count} objects")
        return {"FINISHED"}


def _import_entry(menu, context):
    menu.layout.operator(PLIANT_OT_import.bl_idname, text="Pliant result (.npz)")


def _export_entry(menu, context):
    menu.layout.operator(PLIANT_OT_export.bl_idname, text="Pliant scene (.toml)")


CLASSES = (PliantSettings, PLIANT_PT_object, PLIANT_OT_import, PLIANT_OT_export)


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Object.pliant = PointerProperty(type=PliantSettings)
    bpy.types.TOPBAR_MT_file_import.append(_import_entry)
    bpy.types.TOPBAR_MT_file_export.append(_export_entry)
    playing.register()


def unregister():
    playing.unregister()
    bpy.types.TOPBAR_MT_file_export.remove(_export_entry)
    bpy.types.TOPBAR_MT_file_import.remove(_import_entry)
    del bpy.types.Object.pliant
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
