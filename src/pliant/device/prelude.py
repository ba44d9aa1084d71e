"""The first lines of every program: types and names that stand for what OpenCL C and CUDA C write differently."""

from __future__ import annotations

OPENCL = """
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define KERNEL __kernel
#define GLOBAL __global
#define LOCAL __local
#define SHARED __local
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define GROUP_ID (int)get_group_id(0)
#define LOCAL_ID (int)get_local_id(0)
#define GLOBAL_ID (int)get_global_id(0)
#define COUNT_ONE(counter) atomic_inc(counter)
#define VECTOR(a, b, c) (real3)(a, b, c)
#define DOUBLES(a, b, c) (double3)(a, b, c)
#define ROW_OF(a, b, c) (real4)(a, b, c, 0)
typedef {real} real;
typedef {real}3 real3;
typedef {real}4 real4;
"""

CUDA = """
#define KERNEL extern "C" __global__
#define GLOBAL
#define LOCAL
#define SHARED __shared__
#define BARRIER __syncthreads()
#define GROUP_ID (int)blockIdx.x
#define LOCAL_ID (int)threadIdx.x
#define GLOBAL_ID (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define COUNT_ONE(counter) atomicAdd(counter, 1)
#define VECTOR(a, b, c) make_{real}3(a, b, c)
#define DOUBLES(a, b, c) make_double3(a, b, c)
#define ROW_OF(a, b, c) make_{real}4(a, b, c, 0)
#define NAN __int_as_float(0x7fffffff)
#define INFINITY __int_as_float(0x7f800000)
#define inline __device__ __forceinline__
#define atan2 atan2{f}
#define cbrt cbrt{f}
typedef {real} real;
typedef {real}3 real3;
typedef {real}4 real4;
typedef unsigned char uchar;
"""

COMMON = """
// a^(-1/3): NaN below zero
inline real inverse_cube_root(const real a)
{
    return a < 0 ? NAN : 1 / cbrt(a);
}

// a position without its fourth number
inline real3 position(const real4 a)
{
    return VECTOR(a.x, a.y, a.z);
}

// a position relative to b
inline real3 relative(const real4 a, const real3 b)
{
    return VECTOR(a.x - b.x, a.y - b.y, a.z - b.z);
}
"""


def prelude(precision: str, language: str = "opencl") -> str:
    """Types and names for a precision in a language, "opencl" or "cuda"."""
    real, suffix = ("float", "f") if precision == "single" else ("double", "")
    first = (OPENCL if language == "opencl" else CUDA).replace("{real}", real).replace("{f}", suffix)
    return first.strip("\n") + "\n" + COMMON
