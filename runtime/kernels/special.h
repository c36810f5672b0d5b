/* special.h - special functions that the C library lacks.
 *
 * Each is the function of its arguments, computed in double; the value for
 * f32, f16 or bf16 is the double's, rounded once (no two-step rounding error
 * beyond 2^-29 is visible).  At poles and outside the domain they return what
 * XLA's CPU backend returns, so that a program behaves the same. */
#ifndef JX_SPECIAL_H
#define JX_SPECIAL_H

#include <stddef.h>
#include <stdint.h>

double jx_sf_erf_inv(double x);
double jx_sf_lgamma(double x); /* of |Gamma|; does not touch signgam */
double jx_sf_digamma(double x);
double jx_sf_bessel_i0e(double x);
double jx_sf_bessel_i1e(double x);

double jx_sf_zeta(double x, double q); /* Hurwitz: sum over k of (q+k)^-x */
double jx_sf_polygamma(double n, double x);
double jx_sf_igamma(double a, double x);  /* lower, regularized: P(a, x) */
double jx_sf_igammac(double a, double x); /* upper, regularized: Q(a, x) */
double jx_sf_igamma_grad_a(double a, double x); /* dP(a, x)/da */
/* Derivative in `a` of a Gamma(a, 1) sample with value x. */
double jx_sf_random_gamma_grad(double a, double x);

/* to[i] of x[i], the same bits, in vectors; `to` is not x.  i0e (order 0) or
 * i1e (1), digamma, polygamma of 1. */
void jx_sf_bessel_scaled(int order, const double *x, double *to, int64_t n);
void jx_sf_digammas(const double *x, double *to, int64_t n);
void jx_sf_trigammas(const double *x, double *to, int64_t n);

/* I_x(a, b), regularized. */
double jx_sf_betainc(double a, double b, double x);

/* The neighbour of `from` in direction of `to` for a format of sign and
 * magnitude in `bits` bits whose infinity is the pattern `infinity` (f16:
 * 0x7c00, bf16: 0x7f80); NaN in either gives `nan`. */
uint16_t jx_sf_nextafter16(uint16_t from, uint16_t to, uint16_t infinity,
                           uint16_t nan);

/* out[i] = erf_inv(in[i]) to within 1 ULP of f32; the form that vectorizes
 * (random.normal spends its time here). */
void jx_sf_erf_inv_f32(size_t count, const float *in, float *out);

#endif
