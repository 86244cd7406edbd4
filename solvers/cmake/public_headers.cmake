# The public headers: programs that use stowage may include them, and <stowage/stowage.h> includes
# all of them. Every other header is private. A header that one of these includes must be in this
# list too (tests/tree). Their includes should be few, so that a program that plans compiles in
# little more time than the standard library's headers take.
set(STOWAGE_PUBLIC_HEADERS
    # Basic types that all other headers use.
    instances/units.h
    instances/result.h
    instances/budget.h
    instances/model/recorded_block.h
    # Instances and plans by family.
    instances/scatter/instance.h
    instances/scatter/plan.h
    instances/assign/instance.h
    instances/assign/plan.h
    instances/layout/instance.h
    instances/layout/plan.h
    instances/order/instance.h
    instances/order/plan.h
    instances/strategy/instance.h
    instances/strategy/plan.h
    # Instances and plans of any family.
    instances/instance.h
    instances/scatter/presets.h
    instances/documents.h
    instances/check.h
    instances/violation.h
    instances/proof.h
    instances/verify.h
    instances/trainer/step.h
    # Planning.
    solvers/function_ref.h
    solvers/milp/backends.h
    solvers/outcome.h
    solvers/plan_stream.h
    solvers/solve.h
    # Balanced partitions.
    instances/partition/partition.h
    solvers/partition/balanced_partitions.h
    # Attention over packed sequences.
    kernels/attention/attention.h)
