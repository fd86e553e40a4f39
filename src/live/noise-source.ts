/** Delays and phases of a receiver's channels, solved whenever its noise source was on. */
import { gainsCA } from '../core/axes.js';
import { addSeconds, formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import { formatHz } from '../core/units.js';
import { NoiseSolver, type NoiseSolution } from '../delay/index.js';
import type { GainsFile, KrakenFrame } from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';

export interface TimedNoise {
  /** Middle of the frames. */
  readonly time: Instant;
  readonly frequencyHz: number;
  readonly sampleRateHz: number;
  readonly frames: number;
  readonly solution: NoiseSolution;
}

/** A larger change is not an error of the solution but a changed receiver. */
const CHANGED_PHASE_DEG = 5;
const CHANGED_LAG_SAMPLES = 0.05;
/** Changes within this many standard errors are ignored. */
const SIGMAS = 5;

interface Run {
  readonly solver: NoiseSolver;
  readonly first: Instant;
  last: Instant;
  frames: number;
  readonly frequencyHz: number;
  readonly samples: number;
}

export class NoiseSource {
  readonly solved: TimedNoise[] = [];
  private run: Run | undefined;

  constructor(
    private readonly rateOf: (frame: KrakenFrame) => number | undefined,
    private readonly say: (line: string) => void,
  ) {}

  private rateHz = NaN;

  /** Frames while the noise source is on, 'off' when it is off again. */
  readonly see = (frame: KrakenFrame | 'off', at: Instant): void => {
    if (frame === 'off') {
      this.finish();
      return;
    }
    const { run } = this;
    if (run && (run.frequencyHz !== frame.frequencyHz || run.samples !== frame.samples)) this.finish();
    this.rateHz = this.rateOf(frame) ?? NaN;
    this.run ??= {
      solver: new NoiseSolver(frame.channels, frame.samples),
      first: at,
      last: at,
      frames: 0,
      frequencyHz: frame.frequencyHz,
      samples: frame.samples,
    };
    this.run.solver.add(frame.voltages, frame.samples);
    this.run.last = at;
    this.run.frames++;
  };

  /** Solves the frames since the noise source was switched on. */
  finish(): void {
    const { run } = this;
    this.run = undefined;
    const solution = run?.solver.solve();
    if (!run || !solution) return;
    const spanS = Math.max(0, secondsBetween(run.first, run.last));
    const { frames, frequencyHz } = run;
    const time = addSeconds(run.first, spanS / 2);
    const one = { time, frames, frequencyHz, sampleRateHz: this.rateHz, solution };
    const before = this.solved.filter((other) => other.frequencyHz === frequencyHz).at(-1);
    this.solved.push(one);
    noiseLines(one, before).forEach((line) => {
      this.say(line);
    });
  }
}

const number = (value: number, digits: number): string => value.toFixed(digits).replace('-', '−');

export function noiseLines(now: TimedNoise, before: TimedNoise | undefined): string[] {
  const { frames, frequencyHz, solution } = now;
  const each = solution.channels.slice(1).map((channel, n) => {
    if (Number.isNaN(channel.lagSamples))
      return `channel ${n + 1}: no common signal (S/N ${channel.signalToNoise.toPrecision(2)})`;
    const { lagSamples, lagErrorSamples, phaseDeg, phaseErrorDeg, powerRatio } = channel;
    const db = number(10 * Math.log10(powerRatio), 1);
    return `channel ${n + 1}: ${number(lagSamples, 3)} ± ${number(lagErrorSamples, 3)} samples late, ${number(phaseDeg, 1)} ± ${number(phaseErrorDeg, 1)}°, ${db} dB`;
  });
  const head = `noise source, ${frames} frames at ${formatHz(frequencyHz)} until ${formatInstant(now.time, 1)}, against channel 0: ${each.join('; ')}`;
  const changed = before ? changesOf(now, before) : [];
  return changed.length === 0
    ? [head]
    : [head, `coherence was lost since ${formatInstant(before?.time ?? now.time, 1)}: ${changed.join('; ')}`];
}

function changesOf(now: TimedNoise, before: TimedNoise): string[] {
  return now.solution.channels.flatMap((channel, a) => {
    const was = before.solution.channels.at(a);
    if (!was || Number.isNaN(channel.phaseDeg) || Number.isNaN(was.phaseDeg)) return [];
    const phase = ((channel.phaseDeg - was.phaseDeg + 540) % 360) - 180;
    const lag = channel.lagSamples - was.lagSamples;
    const isPhase =
      Math.abs(phase) >
      Math.max(CHANGED_PHASE_DEG, SIGMAS * Math.hypot(channel.phaseErrorDeg, was.phaseErrorDeg));
    const isLag =
      Math.abs(lag) >
      Math.max(CHANGED_LAG_SAMPLES, SIGMAS * Math.hypot(channel.lagErrorSamples, was.lagErrorSamples));
    return isPhase || isLag ? [`channel ${a} by ${number(lag, 2)} samples and ${number(phase, 0)}°`] : [];
  });
}

/** Solutions at the tuning of the spectra. */
export function noiseAt(solved: readonly TimedNoise[], frequenciesHz: Float64Array): TimedNoise[] {
  const middleHz = (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2;
  return solved.filter((one) => Math.abs(one.frequencyHz - middleHz) < one.sampleRateHz / 4);
}

/** The gains of the spectra's channels from the solutions: g_a = √(P_a/P_0) e^(iφ − 2πi (f − f₀) τ). */
export function noiseGains(
  solved: readonly TimedNoise[],
  {
    telescope,
    frequenciesHz,
    history,
  }: {
    readonly telescope: Telescope;
    readonly frequenciesHz: Float64Array;
    readonly history: readonly string[];
  },
): GainsFile {
  const times = solved.map(({ time, solution, frequencyHz, sampleRateHz }) => {
    const inputs = solution.channels.length;
    const gains = new Float64Array(2 * inputs * frequenciesHz.length);
    const known = new Uint8Array(inputs * frequenciesHz.length);
    frequenciesHz.forEach((f, c) => {
      solution.channels.forEach(({ lagSamples, phaseDeg, powerRatio }, a) => {
        const at = c * inputs + a;
        if (Number.isNaN(phaseDeg)) return;
        const angle =
          (phaseDeg * Math.PI) / 180 - (2 * Math.PI * (f - frequencyHz) * lagSamples) / sampleRateHz;
        gains[2 * at] = Math.sqrt(powerRatio) * Math.cos(angle);
        gains[2 * at + 1] = Math.sqrt(powerRatio) * Math.sin(angle);
        known[at] = 1;
      });
    });
    return { time, gains: gainsCA(gains, frequenciesHz.length, inputs), solved: known, solutions: [] };
  });
  return {
    telescope: telescope.name,
    stations: telescope.stations.map(({ name }) => name),
    polarisations: telescope.polarisations,
    frequenciesHz,
    ...times[0],
    ...(times.length > 1 && { later: times.slice(1) }),
    referenceStation: 0,
    dataUnits: 'uncalibrated',
    fluxScale: 'relative',
    sources: ['noise source'],
    history,
  };
}
