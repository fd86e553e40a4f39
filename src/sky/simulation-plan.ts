/** A checked simulation plan, with all numbers computed that need no random signal. Pure. */
import type { VoltageType } from '../core/axes.js';
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import { addSamples, type Instant } from '../core/instant.js';
import { formatHz, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { Station, Telescope } from '../telescope/telescope.js';
import { elementVoltage } from './beam.js';
import { skyFrame } from './frame.js';
import { bandwidthHz, frequencyGrid, type Band, type FrequencyGrid } from './frequency-grid.js';
import { drawGains, nominalGains, type GainModel, type InputGain } from './input-gains.js';
import { checkInterferer, meanFluxJy, type Interferer } from './interferers.js';
import { countsPerRootJy } from './quantise.js';
import { isKnown, type Source } from './source.js';

export interface SimulationOptions {
  readonly telescope: Telescope;
  readonly start: Instant;
  /** Per input. */
  readonly samples: number;
  readonly sampleRateHz: number;
  readonly centreFrequencyHz: number;
  readonly type: VoltageType;
  readonly sources: readonly Source[];
  /**
   * Receiver noise of each input, as the flux of a source at the zenith that would double its power. A real dipole at
   * 60 MHz has more than a million; a demonstration of a fraction of a second needs far less.
   */
  readonly systemFluxJy: number;
  readonly seed: number;
  readonly gains?: Partial<GainModel>;
  readonly interferers?: readonly Interferer[];
  /** Probability that a packet is lost; 0 by default. */
  readonly dropFraction?: number;
  /** Inputs with almost no signal: a broken amplifier or cable. None by default. */
  readonly deadInputs?: readonly number[];
}

export interface SimulationPlan extends Required<Omit<SimulationOptions, 'gains'>> {
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly grid: FrequencyGrid;
  /** Gain of each input : [a] */
  readonly inputGains: readonly InputGain[];
  /**
   * The recorder's scale, the same for every input: V/counts² divided by its square is in Jy. An input of gain g and
   * power S Jy at every frequency has ⟨|x|²⟩ = |g|²·S·countsPerRootJy² over the whole band, real or complex.
   */
  readonly countsPerRootJy: number;
}

/** Amplitude that leaks into a broken input. */
const DEAD_AMPLITUDE = 0.02;
const LEAST_CHUNK = 4096;
const MOST_CHUNK = 65_536;
/** Far beyond any antenna: a higher value is a typing error. */
const MOST_FREQUENCY_HZ = 1e12;

/** Checks a simulation and draws all its random parameters: the same plan gives the same bytes. */
export function planSimulation(options: SimulationOptions): SimulationPlan {
  const { telescope, start, samples, sampleRateHz, centreFrequencyHz, type, seed } = options;
  const { systemFluxJy, interferers = [], dropFraction = 0, deadInputs = [] } = options;
  const where = 'simulate';
  wholeNumber(where, 'samples', samples, 1, Number.MAX_SAFE_INTEGER);
  wholeNumber(where, 'stations', telescope.stations.length, 1, 65_536);
  wholeNumber(where, 'seed', seed, 0, Number.MAX_SAFE_INTEGER);
  realNumber(where, 'the sample rate in Hz (source.rate)', sampleRateHz, 1, 1e12);
  realNumber(where, 'the receiver noise in Jy (--noise)', systemFluxJy, 0, 1e15);
  realNumber(where, 'the chance of loss (--drop)', dropFraction, 0, 1);
  const band: Band = { type, centreFrequencyHz, sampleRateHz };
  realNumber(where, "the band's middle in Hz (source.frequency)", centreFrequencyHz, 0, MOST_FREQUENCY_HZ);
  if (centreFrequencyHz < bandwidthHz(band) / 2) {
    refuse(
      where,
      `the band of ${formatHz(bandwidthHz(band))} around ${formatHz(centreFrequencyHz)} reaches below zero`,
      'give a higher frequency, like 58MHz, or a lower sample rate',
    );
  }
  const sources = shining(options);
  const twice = sources.find((source, n) => sources.findIndex(({ name }) => name === source.name) < n);
  if (twice) refuse(where, `two sources are called '${twice.name}'`, 'give each a name of its own');
  const extended = sources.find(
    (source) => source.shape !== undefined || source.fluxJy(centreFrequencyHz) < 0,
  );
  if (extended)
    refuse(
      where,
      `${extended.name} is ${extended.shape ? 'extended' : 'negative'}`,
      'the simulator draws points of positive flux: leave it out of `sources`',
    );
  for (const interferer of interferers) checkInterferer(interferer, band);

  const inputs = telescope.stations.length * telescope.polarisations;
  for (const input of deadInputs) wholeNumber(where, 'a dead input', input, 0, inputs - 1);
  const inputGains = drawGains({ ...nominalGains, ...options.gains }, seed, inputs).map((gain, a) =>
    deadInputs.includes(a) ? { ...gain, amplitude: DEAD_AMPLITUDE } : gain,
  );
  const powerJy =
    meanPowerJy({ ...options, sources }, band) * mean(inputGains.map(({ amplitude }) => amplitude ** 2));
  if (!(powerJy > 0 && powerJy < Infinity)) {
    refuse(
      where,
      `the mean power would be ${powerJy} Jy`,
      'add receiver noise (--noise) or a source that is up',
    );
  }
  return {
    telescope,
    start,
    samples,
    sampleRateHz,
    centreFrequencyHz,
    type,
    sources,
    systemFluxJy,
    seed,
    interferers,
    dropFraction,
    deadInputs,
    inputs,
    polarisations: telescope.polarisations,
    grid: frequencyGrid(band, chooseChunk(telescope.stations, sampleRateHz)),
    inputGains,
    countsPerRootJy: countsPerRootJy(type, powerJy),
  };
}

/** Without sources that were only named, like satellites without a flux, and those whose elements are too old. */
function shining({
  telescope,
  start,
  sources,
  centreFrequencyHz,
}: SimulationOptions): SimulationOptions['sources'] {
  const frame = skyFrame(telescope.site, start);
  return sources.filter((source) => source.fluxJy(centreFrequencyHz) !== 0 && isKnown(source, frame));
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Power of an input of gain 1 halfway through the recording, averaged over band and polarisations. */
function meanPowerJy(options: SimulationOptions, band: Band): number {
  const { telescope, sources, start, samples, sampleRateHz, systemFluxJy, interferers = [] } = options;
  const frame = skyFrame(telescope.site, addSamples(start, Math.floor(samples / 2), sampleRateHz));
  // Spectra are smooth: 16 frequencies give the band's mean.
  const frequenciesHz = Array.from(
    { length: 16 },
    (_, n) => band.centreFrequencyHz + ((n + 0.5) / 16 - 0.5) * bandwidthHz(band),
  );
  const sourcesJy = sources.map((source) => {
    const voltage = elementVoltage(telescope, frame.directionEnu(source.position(frame)));
    return voltage === 0 ? 0 : voltage ** 2 * mean(frequenciesHz.map((f) => source.fluxJy(f)));
  });
  return [systemFluxJy, ...sourcesJy, ...interferers.map(meanFluxJy)].reduce((sum, value) => sum + value, 0);
}

/**
 * Signals are made in chunks, each periodic: an antenna that receives a wavefront τ early has the chunk's own first τ
 * at its end instead of the next chunk's, so a fraction τ/chunk of the pair's correlation is lost. A chunk of a
 * thousand longest delays keeps that below 0.1 %. The chunk length does not depend on the recording's, so that a longer
 * recording begins with the same samples.
 */
function chooseChunk(stations: readonly Station[], sampleRateHz: number): number {
  const extent = (of: (station: Station) => number): number => {
    const values = stations.map(of);
    return values.reduce((x, y) => Math.max(x, y)) - values.reduce((x, y) => Math.min(x, y));
  };
  const acrossM = Math.hypot(
    extent(({ eastM }) => eastM),
    extent(({ northM }) => northM),
    extent(({ upM }) => upM),
  );
  const delaySamples = (acrossM / SPEED_OF_LIGHT_M_PER_S) * sampleRateHz;
  if (delaySamples > MOST_CHUNK / 64) {
    refuse(
      'simulate',
      `${acrossM.toFixed(0)} m across is a delay of ${delaySamples.toFixed(0)} samples`,
      `keep it within ${MOST_CHUNK / 64}: lower sampleRateHz or choose nearer stations`,
    );
  }
  let chunk = LEAST_CHUNK;
  while (chunk < MOST_CHUNK && chunk < 1000 * delaySamples) chunk *= 2;
  return chunk;
}
