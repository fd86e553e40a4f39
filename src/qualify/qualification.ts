/** Runs the figures one after the other, and returns the results as plain data. */
import { mkdtemp, rm } from 'node:fs/promises';
import { arch, availableParallelism, cpus, platform, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../backend/backend.js';
import { describeDevices } from '../backend/select.js';
import { CorellaError, refuse } from '../core/errors.js';
import type { OnStep } from '../core/progress.js';
import type { Check, Figure, Findings } from './figure.js';
import { figureNames, type FigureName } from './names.js';
import { imagesFigure } from './figures/images.js';
import { liveFigure } from './figures/live.js';
import { lossFigure } from './figures/loss.js';
import { backendsFigure } from './figures/backends.js';
import { beamsFigure } from './figures/beams.js';
import { filesFigure } from './figures/files.js';
import { performanceFigure } from './figures/performance.js';
import { papersFigure } from './figures/papers.js';
import { closureFigure } from './figures/closure.js';
import { delayFigure } from './figures/delay.js';
import { dynamicRangeFigure } from './figures/dynamic-range.js';
import { exactnessFigure } from './figures/exactness.js';
import { gainsFigure } from './figures/gains.js';
import { linearityFigure } from './figures/linearity.js';
import { noiseFigure } from './figures/noise.js';
import { quantisationFigure } from './figures/quantisation.js';
import { socketsFigure } from './figures/sockets.js';
import { shapeFigure } from './figures/shape.js';
import { signatureFigure } from './figures/signature.js';
import { toneFigure } from './figures/tone.js';

interface QualifyOptions {
  readonly backend: Backend;
  readonly quick: boolean;
  /** Figures by name; all by default. */
  readonly only?: readonly string[];
  /** Includes packets by sockets in real time. */
  readonly live?: boolean;
  /** Of this program. */
  readonly version: string;
  readonly onStep?: OnStep;
}

export interface QualifiedFigure extends Findings {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly seconds: number;
  /** The error if it could not be measured, which counts as a miss. */
  readonly failure?: string;
}

interface Machine {
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly node: string;
  /** All available backends. */
  readonly backends: readonly string[];
}

export interface Qualification {
  readonly version: string;
  readonly madeUtc: string;
  readonly machine: Machine;
  readonly backend: string;
  readonly description: string;
  readonly quick: boolean;
  readonly seconds: number;
  readonly figures: readonly QualifiedFigure[];
}

/** Measures everything requested; a figure that fails does not stop the others. */
export async function qualify(options: QualifyOptions): Promise<Qualification> {
  const { backend, quick, version, onStep } = options;
  const chosen = choose(options);
  const folder = await mkdtemp(join(tmpdir(), 'corella-qualify-'));
  const started = performance.now();
  const done: QualifiedFigure[] = [];
  try {
    for (const [n, figure] of chosen.entries()) {
      onStep?.(n / chosen.length, figure.title);
      done.push(await measured(figure, () => figure.measure({ backend, quick, folder })));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return {
    version,
    madeUtc: new Date().toISOString(),
    machine: machine(),
    backend: backend.kind,
    description: backend.description,
    quick,
    seconds: (performance.now() - started) / 1000,
    figures: done,
  };
}

function choose({ only, live }: Pick<QualifyOptions, 'only' | 'live'>): readonly Figure[] {
  if (!only) return figures.filter(({ onRequest }) => live === true || onRequest !== true);
  const unknown = only.find((name) => figures.every((figure) => figure.name !== name));
  if (unknown !== undefined)
    refuse('--figures', `'${unknown}' is not a figure`, `choose among ${figureNames.join(', ')}`);
  return figures.filter(
    ({ name, onRequest }) => only.includes(name) || (live === true && onRequest === true),
  );
}

async function measured(figure: Figure, measure: () => Promise<Findings>): Promise<QualifiedFigure> {
  const { name, title, about } = figure;
  const started = performance.now();
  const took = (): number => (performance.now() - started) / 1000;
  try {
    const findings = await measure();
    return { name, title, about, ...findings, seconds: took() };
  } catch (error) {
    const failure = error instanceof CorellaError ? error.message : String(error);
    return { name, title, about, checks: [], failure, seconds: took() };
  }
}

function machine(): Machine {
  return {
    system: `${platform()} ${release()}, ${arch()}`,
    processor: cpus().at(0)?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.version,
    backends: describeDevices().flatMap((device) =>
      device.present ? [`${device.kind}: ${device.description}`] : [],
    ),
  };
}

/** A line for each threshold missed, and for each figure that could not be measured. */
export const missed = ({ figures: all }: Qualification): readonly string[] =>
  all.flatMap(({ name, checks, failure }) => [
    ...(failure === undefined ? [] : [`${name}: could not be measured: ${failure}`]),
    ...checks.filter(({ result }) => result === 'fail').map((check) => `${name}: ${checkLine(check)}`),
  ]);

export const checkLine = ({ what, measured: value, unit, wanted }: Check): string =>
  `${what}: ${figureText(value)}${unit === '' ? '' : ` ${unit}`}${wanted === undefined ? '' : `, wanted ${wanted}`}`;

/** Whole numbers in full, others to four digits. */
export const figureText = (value: number): string =>
  Number.isInteger(value) || !Number.isFinite(value) ? `${value}` : `${Number(value.toPrecision(4))}`;

const byName: Readonly<Record<FigureName, Figure>> = {
  tone: toneFigure,
  shape: shapeFigure,
  'dynamic-range': dynamicRangeFigure,
  linearity: linearityFigure,
  delay: delayFigure,
  signature: signatureFigure,
  exactness: exactnessFigure,
  noise: noiseFigure,
  quantisation: quantisationFigure,
  closure: closureFigure,
  beams: beamsFigure,
  gains: gainsFigure,
  images: imagesFigure,
  loss: lossFigure,
  live: liveFigure,
  sockets: socketsFigure,
  files: filesFigure,
  backends: backendsFigure,
  performance: performanceFigure,
  papers: papersFigure,
};
const figures = figureNames.map((name) => byName[name]);
