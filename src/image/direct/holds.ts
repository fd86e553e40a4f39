/**
 * For which arrays direct imaging is right: how far its image of a single source is from the exact one, with the plan's
 * own kernels. A source at ŝ, seen in the pixel at ŝ':
 *
 *   direct  |Σ_a A_a(ŝ') conj(E_a(ŝ))|² / N²        A the response of a station's kernel, E the voltage at the station
 *   exact   |Σ_a E_a(ŝ') conj(E_a(ŝ))|² / N²
 *
 * and the same without the terms of a station with itself, over N(N − 1). The largest difference, over the source's
 * peak, is the error by heights, slopes and coarse kernels. Where stations are weighted by patterns of their own, E
 * includes them, and the peak is that of a source where the patterns peak.
 *
 * The largest difference is searched for. Kernels are worst at the edge of the field, and differences are largest for
 * sources in the main lobe round a pixel: of all pixels at the edge those with the largest error of a source in them are
 * searched, beside a lattice. For one pixel the difference is a wave in ŝ that has no period shorter than the longest
 * baseline: sources every half of that period find where it is large. From the worst pairs of pixel and source the search
 * climbs, to neighbouring pixels and to places between, until nothing near is worse.
 */
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import { acrossOf } from '../aperture.js';
import { rootsOfUnity } from '../phasor.js';
import type { ImagePlan } from '../plan.js';

/** Pixels along either axis of the field, and round its rim. */
const DENSE = { lattice: 17, roundRim: 64 } as const;
/** For a first, coarse estimate. */
const SPARSE = { lattice: 9, roundRim: 32 } as const;
/** So many pixels at the edge of the field are searched, of those with the largest error of a source in them. */
const WORST_AT_EDGE = 96;
type Density = typeof DENSE | typeof SPARSE;
/** The margin of an estimate without a search, which misses the worst places. */
const MARGIN = 1.2;
/**
 * The margin for what a search misses. For 36 random arrays in three channels, compared with all pixels and 120
 * sources, it missed nothing; for LWA-SV, for whose size sources are too few, two searches from other pixels and
 * channels differed by 14 %.
 */
const SEARCH_MARGIN = 1.15;
/** Most products of a station, a source and a pixel in a search: about a second. Large arrays have fewer sources. */
const MOST_PRODUCTS = 3e7;
/** Memory for the responses in pixels that were visited: climbs from several starts meet. */
const KNOWN_BYTES = 2 ** 26;
/** Pairs where climbing starts. */
const STARTS = 16;
/** Frequencies that are searched, spread over a band: stations have other places between cells at each. */
const FREQUENCIES = 3;
/** Kernels represent heights badly at the rim, where n = √(1 − l² − m²) is steep. */
export const HIGH_DEG = 10;

/** Bounds on the difference between a direct image of one source and the exact one, over the source's peak. */
export interface DirectImageError {
  /** For all pixels, and sources down to the horizon. */
  readonly anywhere: number;
  /** For pixels and sources at least `HIGH_DEG` above the horizon. */
  readonly high: number;
}

/** `plan` is for `boundFrequencies`; all of its channels are searched. */
export function directImageError(plan: ImagePlan): DirectImageError {
  const isHigh = shownPixels(plan, 0).every((pixel) => upOf(plan, placeOf(plan, pixel)) >= HIGH_UP);
  const [anywhere, high = anywhere] = errorsAbove(plan, isHigh ? [0] : [0, HIGH_UP]);
  return { anywhere, high };
}

/** For pixels and sources at least so far above the horizon, for each of several limits. */
function errorsAbove(plan: ImagePlan, limits: readonly number[]): number[] {
  const fields = limits.map((leastUp) => ({
    leastUp,
    spread: lattice(plan, DENSE, leastUp),
    edge: edgeOf(plan, leastUp),
  }));
  const worst = limits.map(() => 0);
  for (const c of plan.frequenciesHz.keys()) {
    // The fields share pixels, and the search keeps their responses.
    const search = prepareSearch(plan, c);
    for (const [k, { leastUp, spread, edge }] of fields.entries()) {
      const places = [...spread, ...search.worstOf(edge, WORST_AT_EDGE)];
      const sources = sourcesOf(plan, c, places).filter((source) => upOf(plan, source) >= leastUp);
      const starts = search.scan(places, sources).sort((a, b) => b.error - a.error);
      for (const pair of starts.slice(0, STARTS)) worst[k] = Math.max(worst[k], search.climb(pair, leastUp));
    }
  }
  return worst.map((error) => SEARCH_MARGIN * error);
}

/** An estimate in a fraction of the time, not a bound. */
export function directErrorEstimate(plan: ImagePlan): number {
  const places = lattice(plan, SPARSE, 0);
  const pairs = prepareSearch(plan, highestOf(plan)).scan(places, places);
  return MARGIN * pairs.reduce((worst, { error }) => Math.max(worst, error), 0);
}

const HIGH_UP = Math.sin((HIGH_DEG * Math.PI) / 180);

const highestOf = ({ frequenciesHz }: ImagePlan): number =>
  frequenciesHz.reduce((best, frequencyHz, c) => (frequencyHz > frequenciesHz[best] ? c : best), 0);

/** Frequencies of a band: the highest, where heights are the most wavelengths, and a few more down to the lowest. */
export function boundFrequencies(frequenciesHz: Float64Array): Float64Array {
  const rising = frequenciesHz.toSorted();
  const steps = Array.from({ length: FREQUENCIES }, (_, k) =>
    Math.round(((rising.length - 1) * k) / (FREQUENCIES - 1)),
  );
  return Float64Array.from(new Set(steps), (k) => rising[k]);
}

interface Direction {
  readonly l: number;
  readonly m: number;
}

interface Place extends Direction {
  readonly pixel: number;
}

/** A pixel, the source with an error in it, and that error. */
interface Pair {
  readonly pixel: number;
  readonly source: Direction;
  readonly error: number;
}

/** The response of the stations in a pixel: [s] complex, and its excess power over the exact one. */
interface Answer {
  readonly answered: Float64Array;
  readonly exact: Float64Array;
  readonly excess: Float64Array;
}

function placeOf({ pixels, pixelSize }: ImagePlan, pixel: number): Place {
  return {
    pixel,
    l: ((pixel % pixels) - pixels / 2) * pixelSize,
    m: (Math.floor(pixel / pixels) - pixels / 2) * pixelSize,
  };
}

/** The sine of the altitude; negative where there is no direction. */
function upOf({ axes }: ImagePlan, { l, m }: Direction): number {
  const squared = l * l + m * m;
  return squared < 1 ? l * axes.l.z + m * axes.m.z + Math.sqrt(1 - squared) * axes.n.z : -1;
}

function prepareSearch(plan: ImagePlan, c: number) {
  const { pixels, pixelSize, shown, stations } = plan;
  const roots = rootsOfUnity(pixels);
  const known = new Map<number, Answer>();
  const mostKnown = KNOWN_BYTES / (5 * 8 * stations);
  const answerOf = (pixel: number): Answer => {
    const before = known.get(pixel);
    if (before) return before;
    const [answered, exact] = [answersAt(plan, c, pixel, roots), response(plan, c, placeOf(plan, pixel))];
    const excess = new Float64Array(stations);
    for (let s = 0; s < stations; s++) {
      const [a, b] = [2 * s, 2 * s + 1];
      excess[s] = answered[a] ** 2 + answered[b] ** 2 - exact[a] ** 2 - exact[b] ** 2;
    }
    if (known.size >= mostKnown) known.clear();
    const answer = { answered, exact, excess };
    known.set(pixel, answer);
    return answer;
  };
  const step = 1 / (4 * Math.max(1, acrossWavelengths(plan, c)));

  /** Those with the largest error of a source in the pixel itself. */
  const worstOf = (places: readonly Place[], count: number): Place[] =>
    places
      .map((place) => ({ place, error: difference(answerOf(place.pixel), response(plan, c, place)) }))
      .sort((a, b) => b.error - a.error)
      .slice(0, count)
      .map(({ place }) => place);

  /** The worst source for each pixel. */
  const scan = (places: readonly Place[], sources: readonly Direction[]): Pair[] => {
    const received = sources.map((source) => response(plan, c, source));
    return places.map(({ pixel }) => {
      const answer = answerOf(pixel);
      let error = -1;
      let worst = 0;
      received.forEach((source, k) => {
        const here = difference(answer, source);
        if (here <= error) return;
        error = here;
        worst = k;
      });
      return { pixel, source: sources[worst], error };
    });
  };

  /** The largest error reached by climbing from a pair, among pixels and sources at least so far above the horizon. */
  const climb = (start: Pair, leastUp: number): number => {
    let here = start;
    let answer = answerOf(here.pixel);
    for (let reach = step; reach > step / 8;) {
      let [next, nextAnswer] = [here, answer];
      const consider = (pixel: number, of: Answer, source: Direction): void => {
        if (upOf(plan, source) < leastUp) return;
        const error = difference(of, response(plan, c, source));
        if (error > next.error) [next, nextAnswer] = [{ pixel, source, error }, of];
      };
      for (const [right, up] of AROUND) {
        const { l, m } = here.source;
        consider(here.pixel, answer, { l: l + right * reach, m: m + up * reach });
        const pixel = here.pixel + up * pixels + right;
        if (shown[pixel] !== 1 || upOf(plan, placeOf(plan, pixel)) < leastUp) continue;
        const there = answerOf(pixel);
        consider(pixel, there, here.source);
        consider(pixel, there, { l: l + right * pixelSize, m: m + up * pixelSize });
      }
      if (next === here) reach /= 2;
      [here, answer] = [next, nextAnswer];
    }
    return here.error;
  };
  return { worstOf, scan, climb };
}

const AROUND = [-1, 0, 1].flatMap((right) =>
  [-1, 0, 1].filter((up) => right !== 0 || up !== 0).map((up) => [right, up] as const),
);

/** With the autocorrelation terms, and without: the larger difference. */
function difference({ answered, exact, excess }: Answer, source: Float64Array): number {
  const stations = excess.length;
  let re = 0;
  let im = 0;
  let exactRe = 0;
  let exactIm = 0;
  let own = 0;
  for (let s = 0; s < stations; s++) {
    const a = 2 * s;
    const b = a + 1;
    const x = source[a];
    const y = source[b];
    re += answered[a] * x + answered[b] * y;
    im += answered[b] * x - answered[a] * y;
    exactRe += exact[a] * x + exact[b] * y;
    exactIm += exact[b] * x - exact[a] * y;
    own += excess[s] * (x * x + y * y);
  }
  const all = re * re + im * im - exactRe * exactRe - exactIm * exactIm;
  const withOwn = Math.abs(all) / stations ** 2;
  return stations < 2 ? withOwn : Math.max(withOwn, Math.abs(all - own) / (stations * (stations - 1)));
}

const acrossWavelengths = ({ stationsM, axes, frequenciesHz }: ImagePlan, c: number): number =>
  (acrossOf(stationsM, axes) * frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S;

/** Sources in the pixels themselves, and two for every wave of the longest baseline across the field. */
function sourcesOf(plan: ImagePlan, c: number, places: readonly Place[]): readonly Direction[] {
  const half = places.reduce((most, { l, m }) => Math.max(most, Math.abs(l), Math.abs(m)), 0);
  const affordable = Math.floor(Math.sqrt(MOST_PRODUCTS / (places.length * plan.stations * plan.channels)));
  const count = Math.min(Math.ceil(4 * half * acrossWavelengths(plan, c)), affordable);
  const steps = Array.from({ length: count }, (_, k) => half * ((2 * k + 1) / count - 1));
  const between = steps.flatMap((m) => steps.map((l) => ({ l, m })));
  return [...places, ...between.filter((source) => upOf(plan, source) > 0)];
}

const shownPixels = (plan: ImagePlan, leastUp: number): number[] =>
  Array.from(plan.shown.keys()).filter(
    (pixel) => plan.shown[pixel] === 1 && upOf(plan, placeOf(plan, pixel)) >= leastUp,
  );

/** Pixels at the edge of the field: beside one that is not in it. */
function edgeOf(plan: ImagePlan, leastUp: number): Place[] {
  const { pixels } = plan;
  const all = new Set(shownPixels(plan, leastUp));
  const isInside = (pixel: number): boolean =>
    [pixel - 1, pixel + 1, pixel - pixels, pixel + pixels].every((beside) => all.has(beside));
  return [...all].filter((pixel) => !isInside(pixel)).map((pixel) => placeOf(plan, pixel));
}

/** Shown pixels spread over the field. */
function lattice(plan: ImagePlan, { lattice: count, roundRim }: Density, leastUp: number): Place[] {
  const { pixels } = plan;
  const all = shownPixels(plan, leastUp);
  const used = new Uint8Array(pixels * pixels);
  for (const pixel of all) used[pixel] = 1;
  const [first, last] = [all[0], all[all.length - 1]].map((pixel) => Math.floor(pixel / pixels));
  const steps = Array.from({ length: count }, (_, k) =>
    Math.round(first + ((last - first) * k) / (count - 1)),
  );
  const inside = steps.flatMap((row) => steps.map((column) => row * pixels + column));
  const places = [...inside, ...rimPixels(pixels, used, roundRim)];
  return [...new Set(places)].filter((pixel) => used[pixel] === 1).map((pixel) => placeOf(plan, pixel));
}

/** The outermost shown pixels, in directions all round the centre. */
function rimPixels(pixels: number, shown: Uint8Array, count: number): number[] {
  return Array.from({ length: count }, (_, k) => {
    const angle = (2 * Math.PI * (k + 0.5)) / count;
    let found = (pixels / 2) * (pixels + 1);
    for (let radius = 0; radius < pixels; radius++) {
      const row = Math.round(pixels / 2 + radius * Math.cos(angle));
      const column = Math.round(pixels / 2 + radius * Math.sin(angle));
      if (Math.min(row, column) < 0 || Math.max(row, column) >= pixels) break;
      if (shown[row * pixels + column] === 1) found = row * pixels + column;
    }
    return found;
  });
}

/** [s] complex: e^(−2πi f r·ŝ/c) times the station's pattern; relative to the first station. */
function response(plan: ImagePlan, c: number, { l, m }: Direction): Float64Array {
  const { stationsM, axes, frequenciesHz, patterns } = plan;
  const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
  const towards = alongAxes(axes, l, m, n);
  const kinds = patterns?.weights(frequenciesHz[c], towards);
  const perMetre = (-2 * Math.PI * frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S;
  const values = new Float64Array(2 * stationsM.length);
  for (let s = 0; s < stationsM.length; s++) {
    const angle = perMetre * dot(stationsM[s], towards);
    const cosine = Math.cos(angle);
    const sine = Math.sin(angle);
    const kind = kinds?.[patterns?.ofStation[s] ?? 0];
    values[2 * s] = kind ? kind.re * cosine - kind.im * sine : cosine;
    values[2 * s + 1] = kind ? kind.re * sine + kind.im * cosine : sine;
  }
  return values;
}

const alongAxes = ({ l, m, n }: ImagePlan['axes'], a: number, b: number, c: number): Vector3 => ({
  x: a * l.x + b * m.x + c * n.x,
  y: a * l.y + b * m.y + c * n.y,
  z: a * l.z + b * m.z + c * n.z,
});

/** [s] complex: the sum of the cells of a station's kernel in this pixel. */
function answersAt(plan: ImagePlan, c: number, pixel: number, roots: Float64Array): Float64Array {
  const { stations, kernelSize, corners, taps, pixels } = plan;
  const alongRow = waves(roots, pixel % pixels);
  const alongColumn = waves(roots, Math.floor(pixel / pixels));
  const untaper = Math.sqrt(plan.correction[pixel]);
  const values = new Float64Array(2 * stations);
  for (let s = 0; s < stations; s++) {
    const at = c * stations + s;
    let re = 0;
    let im = 0;
    for (let row = 0; row < kernelSize; row++) {
      let rowRe = 0;
      let rowIm = 0;
      for (let column = 0; column < kernelSize; column++) {
        const tap = 2 * ((at * kernelSize + row) * kernelSize + column);
        const wave = 2 * (corners[2 * at + 1] + column);
        rowRe += taps[tap] * alongRow[wave] - taps[tap + 1] * alongRow[wave + 1];
        rowIm += taps[tap] * alongRow[wave + 1] + taps[tap + 1] * alongRow[wave];
      }
      const wave = 2 * (corners[2 * at] + row);
      re += rowRe * alongColumn[wave] - rowIm * alongColumn[wave + 1];
      im += rowRe * alongColumn[wave + 1] + rowIm * alongColumn[wave];
    }
    values[2 * s] = re * untaper;
    values[2 * s + 1] = im * untaper;
  }
  return values;
}

/** [cell] complex: the phase factor of a cell in a row or column of pixels, both counted from the middle. */
function waves(roots: Float64Array, at: number): Float64Array {
  const count = roots.length / 2;
  const values = new Float64Array(2 * count);
  const half = count / 2;
  for (let cell = 0; cell < count; cell++) {
    const turns = (cell - half) * (at - half);
    const root = 2 * (((turns % count) + count) % count);
    values[2 * cell] = roots[root];
    values[2 * cell + 1] = roots[root + 1];
  }
  return values;
}
