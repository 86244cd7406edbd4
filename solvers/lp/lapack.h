// This project's dgetrf and dgetrs of LAPACK for the command; see lapack.cc.
#pragma once

extern "C" {

// Factors the `rows` x `columns` matrix `a` in place: P L U with partial pivoting. `info` is 0, or
// the number (from 1) of the first column with pivot 0.
void dgetrf_(const int* rows, const int* columns, double* a, const int* stride, int* pivots,
             int* info);

// Solves A x = b, or A' x = b unless `transposed` is "N", with the factors of dgetrf_, in place.
// The length of `transposed`, which Fortran passes as the last argument, is not read.
void dgetrs_(const char* transposed, const int* n, const int* right_sides, const double* a,
             const int* stride, const int* pivots, double* b, const int* b_stride, int* info);
}
