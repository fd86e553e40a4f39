// A stack of planes of w: the touched groups of rows, and the transforms to an image and back.
#pragma once
#include <algorithm>

#include "image/wide/cpu/paged_memory.h"
#include "image/wide/cpu/wide_runs.h"
#include "image/wide/cpu/wide_tables.h"

namespace corella {

/** Buffers of a pool's workers. */
template <class Real>
struct WideScratch {
  WideScratch(Pool &pool, const WideKernels<Real> &kernels, const WideShape<Real> &shape)
      : lanes(kernels.lanes),
        tileReals(kernels.scratchReals(shape)),
        transformReals(bufferReals(shape.side, lanes)),
        turnDoubles((shape.pixels / 2 + 1) * 2 * lanes),
        sumDoubles(shape.pixels * 2 * lanes),
        workerBytes(roundUp(tileReals * size(Real{})) + roundUp(transformReals * size(Real{})) +
                    roundUp(turnDoubles * 8) + roundUp(sumDoubles * 8)),
        memory(alignedMemory(static_cast<size_t>(workerBytes * pool.threads()))) {}

  Real *tile(int worker) const { return reinterpret_cast<Real *>(of(worker)); }
  Real *buffers(int worker) const { return reinterpret_cast<Real *>(of(worker) + roundUp(tileReals * size(Real{}))); }
  double *turns(int worker) const {
    return reinterpret_cast<double *>(of(worker) + workerBytes - roundUp(sumDoubles * 8) - roundUp(turnDoubles * 8));
  }
  /** One block's. */
  double *sums(int worker) const {
    return reinterpret_cast<double *>(of(worker) + workerBytes - roundUp(sumDoubles * 8));
  }

 private:
  static constexpr int64_t size(Real) { return sizeof(Real); }
  static constexpr int64_t roundUp(int64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
  char *of(int worker) const { return static_cast<char *>(memory.get()) + worker * workerBytes; }

  const int64_t lanes, tileReals, transformReals, turnDoubles, sumDoubles, workerBytes;
  std::unique_ptr<void, void (*)(void *)> memory;
};

/** Part of a tile's work: some of its runs on some of the planes. */
struct WideTask {
  uint32_t tile;
  size_t firstRun, endRun;
  int firstPlane, endPlane;
};

template <class Real>
class WidePlanes {
 public:
  /** `held` planes at a time. */
  WidePlanes(Pool &pool, const WideKernels<Real> &kernels, const WideTables<Real> &tables,
             const WideScratch<Real> &scratch, int64_t held)
      : pool(pool),
        kernels(kernels),
        tables(tables),
        shape(tables.shape),
        scratch(scratch),
        lanes(kernels.lanes),
        groups(shape.side / WIDE_TILE),
        stride(groupReals(shape.side, lanes)),
        blocks((shape.pixels + lanes - 1) / lanes),
        sumDoubles(shape.pixels * 2 * lanes),
        memory(pagedMemory(static_cast<size_t>(held * groups * stride) * sizeof(Real))),
        sums(pagedMemory(static_cast<size_t>(blocks * sumDoubles) * sizeof(double))),
        states(static_cast<size_t>(held * groups)) {}

  /** Makes the stack planes first … end − 1, all empty. */
  void start(int first, int end) {
    firstPlane = first;
    endPlane = end;
    std::fill(states.begin(), states.end(), EMPTY);
  }

  void grid(const WideRuns &runs, const WideRows<Real> &rows) {
    std::vector<int64_t> fresh = touchedBy(runs, EMPTY);
    pool.run(static_cast<int64_t>(fresh.size()), [&](int64_t n, int) {
      const int64_t at = fresh[static_cast<size_t>(n)];
      std::memset(static_cast<void *>(group(at)), 0, static_cast<size_t>(stride) * sizeof(Real));
      states[static_cast<size_t>(at)] = CELLS;
    });
    // Tiles of one colour never overlap, so that no task waits and the order of the sums is always the same.
    std::vector<WideTask> colours[4];
    for (const WideTask &task : gridTasks(runs)) {
      colours[task.tile / groups % 2 * 2 + task.tile % groups % 2].push_back(task);
    }
    for (const std::vector<WideTask> &tasks : colours) {
      pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t n, int worker) {
        kernels.grid[shape.support](shape, rows, tileOf(runs, tasks[static_cast<size_t>(n)], worker));
      });
    }
  }

  /** Planes that `spread` and `fromSums` have filled; adds to out : [row][c] complex. */
  void degrid(const WideRuns &runs, const WideRows<Real> &rows, Real *out) {
    std::vector<int64_t> fresh = touchedBy(runs, HALF_TRANSFORMED);
    pool.run(static_cast<int64_t>(fresh.size()), [&](int64_t n, int worker) {
      const int64_t at = fresh[static_cast<size_t>(n)];
      kernels.rowsToGrid(shape, group(at), scratch.buffers(worker));
      states[static_cast<size_t>(at)] = CELLS;
    });
    const std::vector<WideTask> tasks = degridTasks(runs);
    pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t n, int worker) {
      kernels.degrid[shape.support](shape, rows, tileOf(runs, tasks[static_cast<size_t>(n)], worker), out);
    });
  }

  void clearSums() {
    pool.run(blocks, [&](int64_t block, int) {
      std::memset(sumsOf(block), 0, static_cast<size_t>(sumDoubles) * sizeof(double));
    });
  }

  /** sums ← sums · step + plane, from the last plane of the stack down. */
  void addToSums() {
    transformRows();
    const std::vector<Real *> rows = groupPointers(CELLS);
    pool.run(blocks, [&](int64_t block, int worker) { addBlock(rows, block, worker, sumsOf(block)); });
  }

  /**
   * image : [m][l] = all planes' sum over the weight, with all corrections; NaN below the horizon. For a stack of all
   * planes: a block's sums never leave the cache.
   */
  void finish(double *image, double weight) {
    transformRows();
    const std::vector<Real *> rows = groupPointers(CELLS);
    pool.run(blocks, [&](int64_t block, int worker) {
      double *own = scratch.sums(worker);
      std::memset(own, 0, static_cast<size_t>(sumDoubles) * sizeof(double));
      addBlock(rows, block, worker, own);
      eachPixel(block, own, [&](int64_t x, int64_t y, const double *re, const double *im) {
        image[(y + shape.pixels / 2) * shape.pixels + x + shape.pixels / 2] = corrected(x, y, *re, *im) / weight;
      });
    });
  }

  /** image : [m][l] += the sums, with all corrections; NaN below the horizon. */
  void collect(double *image) const {
    pool.run(blocks, [&](int64_t block, int) {
      eachPixel(block, sumsOf(block), [&](int64_t x, int64_t y, const double *re, const double *im) {
        image[(y + shape.pixels / 2) * shape.pixels + x + shape.pixels / 2] += corrected(x, y, *re, *im);
      });
    });
  }

  /** The reverse: sums ← image, with all corrections; pixels below the horizon are ignored. */
  void spread(const double *image) {
    clearSums();
    pool.run(blocks, [&](int64_t block, int) {
      eachPixel(block, sumsOf(block), [&](int64_t x, int64_t y, double *re, double *im) {
        const std::complex<double> end = tables.end(x, y);
        if (end == std::complex<double>(0)) return;
        const double value =
            image[(y + shape.pixels / 2) * shape.pixels + x + shape.pixels / 2] * tables.correction(x, y);
        *re = value * end.real();
        *im = -value * end.imag();
      });
    });
  }

  /** Sums to the planes of the stack, from the first up: the groups that `runs` needs, or all. */
  void fromSums(const WideRuns *runs) {
    if (runs) {
      for (const int64_t at : touchedBy(*runs, EMPTY)) states[static_cast<size_t>(at)] = HALF_TRANSFORMED;
    } else {
      std::fill(states.begin(), states.begin() + (endPlane - firstPlane) * groups, HALF_TRANSFORMED);
    }
    const std::vector<Real *> rows = groupPointers(HALF_TRANSFORMED);
    pool.run(blocks, [&](int64_t block, int worker) {
      const double *turns = turnsOf(block, worker);
      for (int plane = firstPlane; plane < endPlane; plane++) {
        Real *const *own = rows.data() + (plane - firstPlane) * groups;
        if (isEmpty(own))
          kernels.skipPlane(shape, sumsOf(block), turns, 1);
        else
          kernels.columnsToGrid(shape, own, block, sumsOf(block), turns, scratch.buffers(worker));
      }
    });
  }

 private:
  enum State : uint8_t { EMPTY, CELLS, HALF_TRANSFORMED };

  void transformRows() {
    std::vector<int64_t> full;
    for (int64_t at = 0; at < static_cast<int64_t>(states.size()); at++) {
      if (states[static_cast<size_t>(at)] == CELLS) full.push_back(at);
    }
    pool.run(static_cast<int64_t>(full.size()), [&](int64_t n, int worker) {
      kernels.rowsToImage(shape, group(full[static_cast<size_t>(n)]), scratch.buffers(worker));
    });
  }

  /** One block of columns of all planes of the stack. rows: groupPointers, once they are half transformed. */
  void addBlock(const std::vector<Real *> &rows, int64_t block, int worker, double *own) const {
    const double *turns = turnsOf(block, worker);
    for (int plane = endPlane - 1; plane >= firstPlane; plane--) {
      Real *const *here = rows.data() + (plane - firstPlane) * groups;
      if (isEmpty(here))
        kernels.skipPlane(shape, own, turns, 0);
      else
        kernels.columnsToImage(shape, here, plane > firstPlane ? here - groups : nullptr, block, own, turns,
                               scratch.buffers(worker));
    }
  }

  /** The corrected value of a pixel's sum. */
  double corrected(int64_t x, int64_t y, double re, double im) const {
    const std::complex<double> end = tables.end(x, y);
    if (end == std::complex<double>(0)) return std::numeric_limits<double>::quiet_NaN();
    return (re * end.real() - im * end.imag()) * tables.correction(x, y);
  }

  Real *group(int64_t at) const { return static_cast<Real *>(memory.get()) + at * stride; }
  double *sumsOf(int64_t block) const { return static_cast<double *>(sums.get()) + block * sumDoubles; }

  /** Groups [plane of the stack][group] that the runs touch and that have this state. */
  std::vector<int64_t> touchedBy(const WideRuns &runs, State state) const {
    std::vector<uint8_t> touched(states.size());
    for (const WideSpan &span : runs.spans) {
      const int64_t row = span.tile / groups;
      const int end = std::min(span.mostPlane + shape.wSupport, endPlane);
      for (int plane = std::max(span.leastPlane, firstPlane); plane < end; plane++) {
        for (const int64_t g : {row, (row + 1) % groups}) {
          touched[static_cast<size_t>((plane - firstPlane) * groups + g)] = 1;
        }
      }
    }
    std::vector<int64_t> found;
    for (size_t at = 0; at < states.size(); at++) {
      if (touched[at] && states[at] == state) found.push_back(static_cast<int64_t>(at));
    }
    return found;
  }

  std::vector<Real *> groupPointers(State state) const {
    std::vector<Real *> pointers(states.size(), nullptr);
    for (size_t at = 0; at < states.size(); at++) {
      if (states[at] == state) pointers[at] = group(static_cast<int64_t>(at));
    }
    return pointers;
  }

  bool isEmpty(Real *const *rows) const {
    return std::all_of(rows, rows + groups, [](const Real *row) { return row == nullptr; });
  }

  /** The runs of a span that touch planes first … end − 1. */
  WideTask within(const WideRuns &runs, const WideSpan &span, int first, int end) const {
    const auto before = [](const WideRun &run, int plane) { return run.plane < plane; };
    const WideRun *begin = runs.runs.data() + span.first, *last = runs.runs.data() + span.last;
    const WideRun *from = std::lower_bound(begin, last, first - shape.wSupport + 1, before);
    const WideRun *to = std::lower_bound(from, last, end, before);
    return {span.tile, static_cast<size_t>(from - runs.runs.data()), static_cast<size_t>(to - runs.runs.data()), first,
            end};
  }

  /** The least number of runs for a task of its own. */
  size_t taskRuns(const WideRuns &runs) const {
    return std::max<size_t>(4096, runs.runs.size() / (8 * static_cast<size_t>(pool.threads())));
  }

  static void longestFirst(std::vector<WideTask> &tasks) {
    std::stable_sort(tasks.begin(), tasks.end(), [](const WideTask &a, const WideTask &b) {
      return a.endRun - a.firstRun > b.endRun - b.firstRun;
    });
  }

  /** Full tiles are split between planes, which changes no sum. */
  std::vector<WideTask> gridTasks(const WideRuns &runs) const {
    std::vector<WideTask> tasks;
    for (const WideSpan &span : runs.spans) {
      const WideTask whole = within(runs, span, firstPlane, endPlane);
      const size_t count = whole.endRun - whole.firstRun, parts = count / taskRuns(runs) + 1;
      int from = firstPlane;
      for (size_t part = 1; part <= parts && count > 0; part++) {
        const int to = part == parts ? endPlane : runs.runs[whole.firstRun + count * part / parts].plane;
        if (to <= from) continue;
        const WideTask task = within(runs, span, from, to);
        if (task.endRun > task.firstRun) tasks.push_back(task);
        from = to;
      }
    }
    longestFirst(tasks);
    return tasks;
  }

  /** Full tiles are split between runs: no two tasks write the same visibility. */
  std::vector<WideTask> degridTasks(const WideRuns &runs) const {
    std::vector<WideTask> tasks;
    for (const WideSpan &span : runs.spans) {
      const WideTask whole = within(runs, span, firstPlane, endPlane);
      for (size_t first = whole.firstRun; first < whole.endRun; first += taskRuns(runs)) {
        const size_t end = std::min(whole.endRun, first + taskRuns(runs));
        tasks.push_back({whole.tile, first, end, firstPlane, endPlane});
      }
    }
    longestFirst(tasks);
    return tasks;
  }

  WideTile<Real> tileOf(const WideRuns &runs, const WideTask &task, int worker) const {
    return {runs.runs.data() + task.firstRun,
            runs.runs.data() + task.endRun,
            task.tile % groups * WIDE_TILE,
            task.tile / groups * WIDE_TILE,
            task.firstPlane,
            task.endPlane,
            group((task.firstPlane - firstPlane) * groups),
            scratch.tile(worker)};
  }

  /** turns : [|m|][re | im of the block's columns]. */
  const double *turnsOf(int64_t block, int worker) const {
    double *turns = scratch.turns(worker);
    for (int64_t lane = 0; lane < lanes; lane++) {
      // columns outside the image are not used: any of its factors will do
      const int64_t x = std::min(block * lanes + lane, shape.pixels - 1) - shape.pixels / 2;
      for (int64_t y = 0; y <= shape.pixels / 2; y++) {
        turns[y * 2 * lanes + lane] = tables.step(x, y).real();
        turns[(y * 2 + 1) * lanes + lane] = tables.step(x, y).imag();
      }
    }
    return turns;
  }

  /** act(x, y, re, im) for every pixel of a block of columns, counted from the image's middle. */
  template <class Act>
  void eachPixel(int64_t block, double *own, const Act &act) const {
    const int64_t part = shape.pixels / 2;
    for (int64_t k = 0; k < shape.pixels; k++) {
      double *re = own + k * 2 * lanes;
      const int64_t y = k < part ? k : k - shape.pixels;
      for (int64_t lane = 0; lane < lanes && block * lanes + lane < shape.pixels; lane++) {
        act(block * lanes + lane - part, y, re + lane, re + lanes + lane);
      }
    }
  }

  Pool &pool;
  const WideKernels<Real> &kernels;
  const WideTables<Real> &tables;
  const WideShape<Real> &shape;
  const WideScratch<Real> &scratch;
  /** Groups of rows are as high as tiles: there are as many of both along an axis. */
  const int64_t lanes, groups, stride, blocks, sumDoubles;
  /** memory : [plane of the stack][group] as wide_kernels.h has them; sums : [block of columns][m][re | im]. */
  std::unique_ptr<void, void (*)(void *)> memory, sums;
  /** states : [plane of the stack][group]. */
  std::vector<State> states;
  int firstPlane = 0, endPlane = 0;
};

}  // namespace corella
