// Vectors and positive definite systems, the latter by LAPACK as SciPy has it: a kernel need not link another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace optiframe::tvcs::fits {

using Numbers = std::vector<double>;

double dot(std::span<const double> a, const double* b);
void add(double times, const double* column, std::span<double> into);

struct Lapack {
    using Dposv = void(char* uplo, int* n, int* columns, double* a, int* lda, double* b, int* ldb, int* info);
    using Dsyrk = void(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta,
                       double* c, int* ldc);
    using Dgemm = void(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a, int* lda,
                       double* b, int* ldb, double* beta, double* c, int* ldc);

    Dposv* dposv = nullptr;
    Dsyrk* dsyrk = nullptr;
    Dgemm* dgemm = nullptr;

    // The solution of a positive definite system of so many rows, given by its lower half by columns, for one or more
    // columns on the right; none where it is nearly singular.
    std::optional<Numbers> solved(Numbers matrix, Numbers right, std::size_t rows) const;
    // The inverse of such a matrix.
    std::optional<Numbers> inverse(Numbers matrix, std::size_t rows) const;
    // The product of matrices by columns, with so many numbers along both; `turned`: left' right.
    void product(bool turned, const double* left, const Numbers& right, std::size_t along, Numbers& into) const;
};

} // namespace optiframe::tvcs::fits
