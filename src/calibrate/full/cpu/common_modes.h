// What all stations may share (full/common.ts): normal equations in the eight numbers of u, and their solution.
//
//   tr S_mᴴ S_k, summed over pairs, with S_m = G_i (u_m M + M u_mᴴ) G_jᴴ, separates into terms from the rows' sums,
//
//   normal = Re Σ_i tr u_mᴴ H_i u_k D_i  +  X_mk + X_km,   X_mk = Re Σ_pairs w tr M H_j u_m Mᴴ H_i u_k
//   right  = Σ_i G_iᴴ N_i − H_i D_i
//
// and X, the only sum over pairs, is 16 complex numbers whatever m and k are.
#pragma once
#include <algorithm>
#include <cmath>

#include "backend/cpu/native.h"

namespace corella {

/** 2 × 2 complex, rows first, real before imaginary. */
struct Matrix2 {
  double x[8];
};

enum class Take { plain, adjoint };
/** a·b, aᴴ or bᴴ where requested. */
template <Take A = Take::plain, Take B = Take::plain>
Matrix2 times(const Matrix2 &a, const Matrix2 &b) {
  Matrix2 out;
  for (int row = 0; row < 2; row++)
    for (int column = 0; column < 2; column++) {
      double re = 0, im = 0;
      for (int k = 0; k < 2; k++) {
        const int atA = A == Take::plain ? 4 * row + 2 * k : 4 * k + 2 * row;
        const int atB = B == Take::plain ? 4 * k + 2 * column : 4 * column + 2 * k;
        const double aRe = a.x[atA], aIm = A == Take::plain ? a.x[atA + 1] : -a.x[atA + 1];
        const double bRe = b.x[atB], bIm = B == Take::plain ? b.x[atB + 1] : -b.x[atB + 1];
        re += aRe * bRe - aIm * bIm;
        im += aRe * bIm + aIm * bRe;
      }
      out.x[4 * row + 2 * column] = re;
      out.x[4 * row + 2 * column + 1] = im;
    }
  return out;
}

/** Sums over stations and pairs; each thread has its own, and they are added. */
struct CommonSums {
  /** rows : [ac][db] of H_ac D_db; pairs : [ab][cd] of (M H_j)_ab (Mᴴ H_i)_cd, (re, im). */
  double rows[4][8] = {}, pairs[4][8] = {};
  double right[8] = {};
  /** Σ w ‖V − G M Gᴴ‖², the count of numbers in it, and of stations used. */
  double squares = 0, numbers = 0, stations = 0;

  /** Variance of one number of the data, at unit weight. */
  double variance() const { return std::max(0.0, squares) / std::max(1.0, numbers - 8 * stations + 1); }
  void add(const CommonSums &other);
  /** A station's H and the N, D of its row. */
  void addRow(const Matrix2 &gain, const Matrix2 &h, const Matrix2 &n, const Matrix2 &d);
  /**
   * Adds the sum over a station's pairs with those before it, [ab][ec] of (M H_j)_ab conj(M_ec), times a factor, with
   * the station's own H.
   */
  void addOwn(const double (&sum)[32], double factor, const Matrix2 &own);
  /** A station with itself, which its row includes once, as if from both sides with half its weight. */
  void addSelf(double weight, const double *data, const Matrix2 &model, const Matrix2 &h);
};

struct CommonFit {
  /** normal : [8][8]; amends likewise: times right, the correction of single stations' steps (full/common.ts). */
  double normal[64], amends[64];
  double variance;
  /** u of the best common step, and its size. */
  Matrix2 step;
  double size;
};

CommonFit fitCommon(const CommonSums &sums);

}  // namespace corella
