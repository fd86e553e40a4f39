/**
 * The contribution of each wave (parity.ts) to an antenna's wanted response over the field: the right-hand sides of its
 * gridding kernel's fit. This runs once for each antenna and channel, so it takes most of the planning time: a quarter
 * of the field is enough, and the sums are in functions of their own, which V8 optimises best.
 */
import { waveTable } from './parity.js';
import { setPhasor } from './phasor.js';

export interface AntennaOffset {
  /** From the middle of its gridding kernel's middle cell, in cells. */
  readonly rowOffset: number;
  readonly columnOffset: number;
  /** Height along the phase centre's direction in wavelengths. */
  readonly heightWavelengths: number;
}

/** The points of the fit: l and m above zero; the other three quarters are mirror images. */
export interface Quarter {
  /** Places along either axis. */
  readonly cosines: Float64Array;
  /** How many of each row's places, from the middle, are on the sky. */
  readonly columns: Int32Array;
  /** heightsN : [row][column], n = √(1 − l² − m²) */
  readonly heightsN: Float64Array;
}

export function quarterField(halfWidth: number, nodes: number): Quarter {
  const cosines = Float64Array.from({ length: nodes }, (_, k) => (halfWidth * (k + 0.5)) / nodes);
  const heightsN = Float64Array.from({ length: nodes * nodes }, (_, at) =>
    Math.sqrt(Math.max(0, 1 - cosines[Math.floor(at / nodes)] ** 2 - cosines[at % nodes] ** 2)),
  );
  const columns = Int32Array.from(
    cosines,
    (_, row) => heightsN.subarray(row * nodes, (row + 1) * nodes).filter((n) => n > 0).length,
  );
  return { cosines, columns, heightsN };
}

/**
 * Gives a function that fills right : [row wave][column wave] with Σ_field wave · wanted / t² (complex), where
 * wanted is an antenna's response and `weights` holds 1/t along either axis.
 */
export function prepareProjection(options: {
  readonly size: number;
  readonly quarter: Quarter;
  readonly cellWavelengths: number;
  readonly weights: Float64Array;
}): (right: Float64Array, antenna: AntennaOffset, heights: 'project' | 'phase-centre') => void {
  const { size, cellWavelengths, weights } = options;
  const { cosines, columns, heightsN } = options.quarter;
  const nodes = cosines.length;
  const cyclesPerCell = cosines.map((l) => l * cellWavelengths);
  const waves = waveTable(size, cyclesPerCell);
  const towardsCentre = heightsN.map(() => 1);
  const phasors = new Float64Array(2 * nodes * nodes);
  const alongColumns = new Float64Array(size * nodes);
  const alongRows = new Float64Array(size * nodes);
  const partial = new Float64Array(2 * size * nodes);
  return (right, antenna, heights) => {
    const n = heights === 'project' ? heightsN : towardsCentre;
    turnByHeight(phasors, columns, n, antenna.heightWavelengths);
    shiftWaves(alongColumns, waves, weights, cyclesPerCell, antenna.columnOffset);
    shiftWaves(alongRows, waves, weights, cyclesPerCell, antenna.rowOffset);
    sumColumns(partial, alongColumns, phasors, columns);
    sumRows(right, alongRows, partial, nodes);
  };
}

/** phasors : [row][column], e^(−2πi w·n), which two nodes symmetric about the diagonal share. */
function turnByHeight(
  phasors: Float64Array,
  columns: Int32Array,
  heightsN: Float64Array,
  heightWavelengths: number,
): void {
  const nodes = columns.length;
  for (let row = 0; row < nodes; row++) {
    const end = Math.min(row + 1, columns[row]);
    for (let column = 0; column < end; column++) {
      const at = row * nodes + column;
      setPhasor(phasors, at, -heightWavelengths * heightsN[at]);
      const mirrored = column * nodes + row;
      phasors[2 * mirrored] = phasors[2 * at];
      phasors[2 * mirrored + 1] = phasors[2 * at + 1];
    }
  }
}

const phasor = new Float64Array(2);

/** shifted : [wave][node], each wave times the even or odd part of a shift by `offset` cells, both signs counted. */
function shiftWaves(
  shifted: Float64Array,
  waves: Float64Array,
  weights: Float64Array,
  cyclesPerCell: Float64Array,
  offset: number,
): void {
  const nodes = weights.length;
  const oddEnd = waves.length / 2 - nodes / 2;
  for (let node = 0; node < nodes; node++) {
    setPhasor(phasor, 0, offset * cyclesPerCell[node]);
    const even = 2 * weights[node] * phasor[0];
    const odd = 2 * weights[node] * phasor[1];
    for (let at = node; at < oddEnd; at += nodes) shifted[at] = waves[at] * odd;
    for (let at = oddEnd + node; at < waves.length; at += nodes) shifted[at] = waves[at] * even;
  }
}

/** partial : [wave][row] = Σ_column along[wave][column] · phasors[row][column] */
function sumColumns(
  partial: Float64Array,
  along: Float64Array,
  phasors: Float64Array,
  columns: Int32Array,
): void {
  const nodes = columns.length;
  for (let wave = 0; wave < along.length; wave += nodes) {
    // Four rows at a time, the first the longest; outside the sky phasors are zero.
    for (let row = 0; row < nodes; row += 4) {
      const end = columns[row];
      const first = 2 * row * nodes;
      let re0 = 0;
      let im0 = 0;
      let re1 = 0;
      let im1 = 0;
      let re2 = 0;
      let im2 = 0;
      let re3 = 0;
      let im3 = 0;
      for (let column = 0; column < end; column++) {
        const weight = along[wave + column];
        const at = first + 2 * column;
        re0 += weight * phasors[at];
        im0 += weight * phasors[at + 1];
        re1 += weight * phasors[at + 2 * nodes];
        im1 += weight * phasors[at + 2 * nodes + 1];
        re2 += weight * phasors[at + 4 * nodes];
        im2 += weight * phasors[at + 4 * nodes + 1];
        re3 += weight * phasors[at + 6 * nodes];
        im3 += weight * phasors[at + 6 * nodes + 1];
      }
      const to = 2 * (wave + row);
      partial[to] = re0;
      partial[to + 1] = im0;
      partial[to + 2] = re1;
      partial[to + 3] = im1;
      partial[to + 4] = re2;
      partial[to + 5] = im2;
      partial[to + 6] = re3;
      partial[to + 7] = im3;
    }
  }
}

/** right : [row wave][column wave] = Σ_row along[row wave][row] · partial[column wave][row] */
function sumRows(right: Float64Array, along: Float64Array, partial: Float64Array, nodes: number): void {
  let to = 0;
  for (let rowWave = 0; rowWave < along.length; rowWave += nodes) {
    for (let wave = 0; wave < along.length; wave += nodes) {
      let re = 0;
      let im = 0;
      for (let row = 0; row < nodes; row++) {
        const weight = along[rowWave + row];
        re += weight * partial[2 * (wave + row)];
        im += weight * partial[2 * (wave + row) + 1];
      }
      right[to++] = re;
      right[to++] = im;
    }
  }
}
