// Rows are cut into runs, which are sorted: by tile with one count for each part of the rows, then within each tile by
// plane. Both keep the order of rows, so that the result does not depend on the number of parts, one for each thread.
#include "image/wide/cpu/wide_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace corella {
namespace {

struct PlacedRun {
  WideRun run;
  uint32_t tile;
};

/** Consecutive rows: their runs, and the number in each tile. */
struct Part {
  std::vector<PlacedRun> runs;
  std::vector<uint32_t> counts;
  int64_t visibilities = 0;
};

[[noreturn]] void refuseW(double w, double least, double most) {
  char text[200];
  std::snprintf(text, sizeof text, "a visibility has |w| = %.6g wavelengths, outside the %.6g to %.6g planned for", w,
                least, most);
  throw Refusal(text);
}

template <class Real>
class Cutter {
 public:
  Cutter(const WideKernels<Real> &kernels, const WideShape<Real> &shape, const WideRows<Real> &rows)
      : kernels(kernels),
        shape(shape),
        rows(rows),
        tiles(shape.side / WIDE_TILE),
        weightSums(static_cast<size_t>(rows.rows)) {
    for (int64_t c = 0; c < rows.channels; c++) {
      leastScale = std::min(leastScale, rows.scales[c]);
      mostScale = std::max(mostScale, rows.scales[c]);
    }
  }

  void cut(int64_t firstRow, int64_t endRow, Part &part) {
    part.counts.assign(static_cast<size_t>(tiles * tiles), 0);
    std::vector<int32_t> cells(static_cast<size_t>(3 * rows.channels));
    const WidePlaces at{cells.data(), cells.data() + rows.channels, cells.data() + 2 * rows.channels};
    for (int64_t row = firstRow; row < endRow; row++) {
      const double *uvw = rows.uvw + 3 * row;
      checkRow(uvw);
      kernels.place(shape, uvw, rows.scales, rows.channels, at);
      cutRow(static_cast<uint32_t>(row), uvw[2] < 0, at, part);
    }
  }

  double weightSum() const { return std::accumulate(weightSums.begin(), weightSums.end(), 0.0); }

 private:
  void checkRow(const double *uvw) const {
    require(std::isfinite(uvw[0]) && std::isfinite(uvw[1]) && std::isfinite(uvw[2]), "a row's u, v or w is no number");
    if (shape.wSupport == 1) return;
    const double w = std::fabs(uvw[2]), last = (shape.planes - shape.wSupport) * shape.spacing;
    // tolerance for rounding at the last plane
    const double slack = 1e-9 * (shape.leastW + last) + 1e-12;
    if (w * leastScale < shape.leastW - slack) refuseW(w * leastScale, shape.leastW, shape.leastW + last);
    if (w * mostScale > shape.leastW + last + slack) refuseW(w * mostScale, shape.leastW, shape.leastW + last);
  }

  void cutRow(uint32_t row, bool turned, const WidePlaces &at, Part &part) {
    const float *weights = rows.weights ? rows.weights + row * rows.channels : nullptr;
    const int lastPlane = shape.planes - shape.wSupport;
    for (int64_t c = 0; c < rows.channels;) {
      if (weights && !(weights[c] > 0)) {
        c++;
        continue;
      }
      int64_t end = c;
      do {
        if (weights) weightSums[row] += weights[end];
        end++;
      } while (end < rows.channels && end - c < 65535 && at.u[end] == at.u[c] && at.v[end] == at.v[c] &&
               at.w[end] == at.w[c] && (!weights || weights[end] > 0));
      part.visibilities += end - c;
      const auto tile = static_cast<uint32_t>(at.v[c] / WIDE_TILE * tiles + at.u[c] / WIDE_TILE);
      const auto plane = static_cast<uint16_t>(std::clamp(at.w[c], 0, lastPlane));
      const auto cell = static_cast<uint8_t>(at.u[c] % WIDE_TILE + at.v[c] % WIDE_TILE * 16);
      part.runs.push_back({{row, static_cast<uint16_t>(c), static_cast<uint16_t>(end - c), plane, cell, turned}, tile});
      part.counts[tile]++;
      c = end;
    }
  }

  const WideKernels<Real> &kernels;
  const WideShape<Real> &shape;
  const WideRows<Real> &rows;
  const int64_t tiles;
  /** By row, so that their sum is the same for any number of threads. */
  std::vector<double> weightSums;
  double leastScale = 1e300, mostScale = 0;
};

/** Counting sort by first plane, order kept. */
void sortByPlane(const WideRun *from, WideRun *to, size_t count, int planes, std::vector<uint32_t> &starts) {
  starts.assign(static_cast<size_t>(planes) + 1, 0);
  for (size_t k = 0; k < count; k++) starts[from[k].plane + size_t{1}]++;
  for (int plane = 0; plane < planes; plane++) starts[plane + size_t{1}] += starts[static_cast<size_t>(plane)];
  for (size_t k = 0; k < count; k++) to[starts[from[k].plane]++] = from[k];
}

}  // namespace

template <class Real>
WideRuns sortRuns(Pool &pool, const WideKernels<Real> &kernels, const WideShape<Real> &shape,
                  const WideRows<Real> &rows) {
  Cutter<Real> cutter(kernels, shape, rows);
  const int64_t parts = std::clamp<int64_t>(rows.rows / 256, 1, pool.threads());
  std::vector<Part> cut(static_cast<size_t>(parts));
  pool.run(parts, [&](int64_t n, int) {
    cutter.cut(rows.rows * n / parts, rows.rows * (n + 1) / parts, cut[static_cast<size_t>(n)]);
  });

  WideRuns sorted;
  const size_t tiles = cut[0].counts.size();
  size_t total = 0;
  for (size_t tile = 0; tile < tiles; tile++) {
    const size_t first = total;
    for (Part &part : cut) {
      const uint32_t here = part.counts[tile];
      part.counts[tile] = static_cast<uint32_t>(total);
      total += here;
    }
    if (total > first) sorted.spans.push_back({static_cast<uint32_t>(tile), first, total, 0, 0});
  }
  sorted.weightSum = cutter.weightSum();
  for (const Part &part : cut) sorted.visibilities += part.visibilities;
  require(total < (size_t{1} << 32), "a block holds too many visibilities: hand over fewer rows at a time");

  std::vector<WideRun> byTile(total);
  pool.run(parts, [&](int64_t n, int) {
    Part &part = cut[static_cast<size_t>(n)];
    for (const PlacedRun &placed : part.runs) byTile[part.counts[placed.tile]++] = placed.run;
    part = Part();
  });
  sorted.runs.resize(total);
  std::vector<std::vector<uint32_t>> starts(static_cast<size_t>(pool.threads()));
  constexpr int64_t SPANS = 16;
  const auto spans = static_cast<int64_t>(sorted.spans.size());
  pool.run((spans + SPANS - 1) / SPANS, [&](int64_t n, int worker) {
    for (int64_t k = n * SPANS; k < std::min(spans, (n + 1) * SPANS); k++) {
      WideSpan &span = sorted.spans[static_cast<size_t>(k)];
      WideRun *to = sorted.runs.data() + span.first;
      sortByPlane(byTile.data() + span.first, to, span.last - span.first, shape.planes,
                  starts[static_cast<size_t>(worker)]);
      span.leastPlane = to[0].plane;
      span.mostPlane = sorted.runs[span.last - 1].plane;
    }
  });
  return sorted;
}

template WideRuns sortRuns(Pool &, const WideKernels<float> &, const WideShape<float> &, const WideRows<float> &);
template WideRuns sortRuns(Pool &, const WideKernels<double> &, const WideShape<double> &, const WideRows<double> &);

}  // namespace corella
