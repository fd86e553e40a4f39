/** The direct imager in float64: one time step after the other, plain loops. */
import type { SpectraCAT, SpectraType } from '../../core/axes.js';
import type { SpectraBlock } from '../../core/blocks.js';
import { nothingToClose } from '../../core/closing.js';
import { planFft } from '../../core/fft.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import { DirectAccount } from './account.js';
import { powerCount, type DirectImagerOptions } from './autos.js';
import type { DirectImager } from './direct.js';
import type { ImagePlan } from '../plan.js';

/** Writes sample `at` of the spectra (re, im) into `into`. */
type ReadSample = (spectra: SpectraCAT, at: number, into: Float64Array) => void;

const readPair: ReadSample = (spectra, at, into) => {
  into[0] = spectra[2 * at];
  into[1] = spectra[2 * at + 1];
};
const readSample = {
  ci8: readPair,
  cf32: readPair,
  ci4: (spectra, at, into) => {
    into[0] = highNibble(spectra[at]);
    into[1] = lowNibble(spectra[at]);
  },
} satisfies Record<SpectraType, ReadSample>;

export function prepareDirectReference(plan: ImagePlan, { autos }: DirectImagerOptions = {}): DirectImager {
  const { pixels, channels, stations, polarisations, products } = plan;
  const inputs = stations * polarisations;
  const fft = planFft(pixels);
  // Only these rows of the grid are ever touched, so only they are kept and transformed along l.
  const rows = plan.endRow - plan.firstRow;
  const grids = Array.from({ length: polarisations }, () => new Float64Array(2 * rows * pixels));
  const columns = Array.from({ length: polarisations }, () => new Float64Array(2 * pixels));
  // sums : [c][product][l][m] in the transform's order; [l] outermost because columns come last
  const sums = new Float64Array(channels * products * pixels * pixels);
  const isColumnShown = shownColumns(plan);
  const sample = new Float64Array(2);
  const account = new DirectAccount(plan, autos);
  const powers = new Float64Array(powerCount(plan));

  function spread(grid: Float64Array, channel: number, station: number, re: number, im: number): void {
    const { kernelSize, taps, corners } = plan;
    const at = channel * stations + station;
    const row = corners[2 * at] - plan.firstRow;
    const column = corners[2 * at + 1];
    let tap = 2 * at * kernelSize * kernelSize;
    for (let r = row; r < row + kernelSize; r++) {
      const end = 2 * (r * pixels + column + kernelSize);
      for (let cell = 2 * (r * pixels + column); cell < end; cell += 2, tap += 2) {
        grid[cell] += re * taps[tap] - im * taps[tap + 1];
        grid[cell + 1] += re * taps[tap + 1] + im * taps[tap];
      }
    }
  }

  /** field(l, m) = Σ cells e^(−2πi (u l + v m)): along l row by row, then along m column by column. */
  function transformAndMultiply(channel: number): void {
    for (const grid of grids) for (let r = 0; r < rows; r++) fft.forward(grid, r * pixels);
    for (let l = 0; l < pixels; l++) {
      if (isColumnShown[l] === 0) continue;
      for (let p = 0; p < polarisations; p++) {
        const column = columns[p];
        column.fill(0);
        for (let r = 0; r < rows; r++) {
          column[2 * (plan.firstRow + r)] = grids[p][2 * (r * pixels + l)];
          column[2 * (plan.firstRow + r) + 1] = grids[p][2 * (r * pixels + l) + 1];
        }
        fft.forward(column);
      }
      const first = (channel * products * pixels + l) * pixels;
      if (polarisations === 1) addPower(sums, first, columns[0]);
      else addProducts(sums, first, pixels * pixels, columns[0], columns[1]);
    }
  }

  /** x conj(x) of every station at one time step, beside its image. */
  const [x, y] = [new Float64Array(2), new Float64Array(2)];
  function addPowers(
    to: Float64Array,
    channel: number,
    readInput: (a: number, into: Float64Array) => void,
  ): void {
    for (let s = 0; s < stations; s++) {
      const at = (channel * stations + s) * products;
      readInput(s * polarisations, x);
      to[at] += x[0] ** 2 + x[1] ** 2;
      if (polarisations === 1) continue;
      readInput(s * polarisations + 1, y);
      to[at + 1] += y[0] ** 2 + y[1] ** 2;
      to[at + 2] += x[0] * y[0] + x[1] * y[1];
      to[at + 3] += x[1] * y[0] - x[0] * y[1];
    }
  }

  async function accumulate(block: SpectraBlock): Promise<void> {
    account.add(block);
    const { factors } = account;
    const spectra = await block.read();
    const read = readSample[block.shape.type];
    for (let c = 0; c < channels; c++) {
      for (let t = 0; t < block.samples; t++) {
        for (const grid of grids) grid.fill(0);
        if (autos === 'leave-out')
          addPowers(powers, c, (a, into) => {
            read(spectra, (c * inputs + a) * block.samples + t, into);
          });
        for (let a = 0; a < inputs; a++) {
          const input = c * inputs + a;
          const factorRe = factors[2 * input];
          const factorIm = factors[2 * input + 1];
          if (factorRe === 0 && factorIm === 0) continue;
          read(spectra, input * block.samples + t, sample);
          const re = sample[0] * factorRe - sample[1] * factorIm;
          const im = sample[0] * factorIm + sample[1] * factorRe;
          spread(grids[a % polarisations], c, Math.floor(a / polarisations), re, im);
        }
        transformAndMultiply(c);
      }
    }
  }

  return {
    plan,
    setGains: (gains, solved) => {
      account.setGains(gains, solved);
    },
    accumulate,
    finish: (into) => {
      account.checkAny();
      const result = account.finish(transposed(sums, pixels), undefined, into, powers);
      sums.fill(0);
      powers.fill(0);
      return Promise.resolve(result);
    },
    close: nothingToClose,
  };
}

/** By the transform's bin: 1 where some pixel of that column is shown. */
function shownColumns({ pixels, shown }: ImagePlan): Uint8Array {
  const columns = new Uint8Array(pixels);
  for (let at = 0; at < shown.length; at++) {
    if (shown[at] === 1) columns[((at % pixels) + pixels / 2) % pixels] = 1;
  }
  return columns;
}

function addPower(sums: Float64Array, first: number, x: Float64Array): void {
  for (let m = 0; 2 * m < x.length; m++) sums[first + m] += x[2 * m] ** 2 + x[2 * m + 1] ** 2;
}

/** XX, YY, Re XY, Im XY with XY = X·conj(Y); products' sums are `apart` from each other. */
function addProducts(
  sums: Float64Array,
  first: number,
  apart: number,
  x: Float64Array,
  y: Float64Array,
): void {
  for (let m = 0; 2 * m < x.length; m++) {
    const xRe = x[2 * m];
    const xIm = x[2 * m + 1];
    const yRe = y[2 * m];
    const yIm = y[2 * m + 1];
    const at = first + m;
    sums[at] += xRe * xRe + xIm * xIm;
    sums[at + apart] += yRe * yRe + yIm * yIm;
    sums[at + 2 * apart] += xRe * yRe + xIm * yIm;
    sums[at + 3 * apart] += xIm * yRe - xRe * yIm;
  }
}

/** Each plane transposed from [l][m] to [m][l]. */
function transposed(sums: Float64Array, pixels: number): Float64Array {
  const turned = new Float64Array(sums.length);
  for (let at = 0; at < sums.length; at++) {
    const inPlane = at % (pixels * pixels);
    turned[at - inPlane + (inPlane % pixels) * pixels + Math.floor(inPlane / pixels)] = sums[at];
  }
  return turned;
}
