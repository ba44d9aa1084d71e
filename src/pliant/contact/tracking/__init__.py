"""What is kept from step to step: sides of sheets, identities of contacts, their multipliers."""
