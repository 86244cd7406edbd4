# The front door: what programs that use stowage may include, and what <stowage/stowage.h> includes.
# Every other header is private. A header that one of these includes must stand here too (tests/tree),
# so keep their includes few: a program that plans is to compile in little more time than the headers
# of the standard library take.
set(STOWAGE_PUBLIC_HEADERS
    # Words that all others use.
    instances/units.h
    instances/result.h
    instances/budget.h
    instances/model/recorded_block.h
    # What is planned, and plans; by family.
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
    # Any of them.
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
