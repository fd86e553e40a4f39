/** Beams in files: targets, averaging, headers, and writers. */
import { existsSync } from 'node:fs';
import { parse } from 'node:path';
import { detections, uniformStep, type Detection } from '../../beamform/index.js';
import { refuse } from '../../core/errors.js';
import { addSamples, type Instant } from '../../core/instant.js';
import { message } from '../../messages/index.js';
import { sampleRateOf } from '../../formats/index.js';
import {
  beamEfficiency,
  beamPhaseLoss,
  beamPieces,
  prepareBeams,
  secondsPerBeam,
  type BeamItem,
  type BeamQuality,
  type BeamsProduct,
  type Front,
  spectraOfSource,
} from '../../compose/index.js';
import { chain, passing } from '../../stages/index.js';
import { altitudeDeg, skyFrame } from '../../sky/frame.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import { refuseUnplaced } from '../../telescope/unplaced.js';
import { beamGrid, MOST_BEAMS } from '../beam-paths.js';
import { handingOver, type Observed, type PlannedProduct, type RealTimeCost } from '../product.js';
import type { Product } from '../registry.js';
import type { BeamFileSettings, BeamTotals } from './beams-files.js';
import { PowerFiles } from './beams-powers.js';
import { VoltageFiles } from './beams-voltages.js';
import { gridAround, parseTarget } from './beams-targets.js';

/** The totals are those of files. */
export interface BeamFacts extends BeamTotals {
  readonly beams: readonly { readonly name: string; readonly path?: string }[];
  readonly detection: Detection | 'none';
  readonly spectraPerValue: number;
  readonly valueS: number;
  /** Channels of values. */
  readonly channels: number;
  readonly bits: 8 | 16 | 32;
  /** Time for which weights are constant. */
  readonly pieceS: number;
  /** Amplitude loss of the station with the largest delay. */
  readonly phaseLoss: number;
  /** With a taper or nulls: the worst of all beams. */
  readonly quality?: BeamQuality;
}

/** Of one product of beams: the rest of the chain needs time too. */
const MOST_OF_REAL_TIME = 0.9;
/** Relative to the best squared signal-to-noise ratio: warned below the first, refused below the second. */
const [LOW_EFFICIENCY, LEAST_EFFICIENCY] = [0.5, 0.01];
const NOTHING_WRITTEN: BeamTotals = {
  values: 0,
  samples: { added: 0, possible: 0 },
  saturated: 0,
  spectraLeftOut: 0,
};

export function planBeamsProduct(fields: Product<'beams'>, observed: Observed): PlannedProduct<BeamFacts> {
  const { recording, telescope, front, spectra } = observed;
  const path = fields.beams ?? undefined;
  if (path !== undefined && !/\.(?:fil|sf|vdif)$/i.test(path))
    refuse('products.beams', `'${path}' does not end in .fil, .sf or .vdif`, 'name one of them');
  const sum = fields.sum ?? 'coherent';
  const detection = detectionOf(fields, observed);
  const { grid } = spectra;
  const { places } = observed;
  // Later stream epochs use the positions steered to before.
  const towards = places && fields.sum !== 'incoherent' ? places.at(grid.start) : fields.towards;
  const targets = targetsOf(fields, towards, observed);
  const spectraPerValue = perValueOf(fields, grid.spectrumRateHz);
  const known = new Map<readonly string[], readonly PhaseCentre[]>(towards && [[towards, targets]]);
  const targetsFor = (steered: readonly string[]): readonly PhaseCentre[] => {
    const found = known.get(steered) ?? targetsOf(fields, steered, observed);
    known.set(steered, found);
    return found;
  };
  const nulls = nullsOf(fields, observed);
  const qualities = new Map<string, BeamQuality>();
  const product: BeamsProduct = {
    telescope,
    targets,
    sum,
    detection,
    spectraPerValue,
    nulls,
    taper: fields.taper === undefined ? undefined : taperOf(telescope, fields.taper),
    weighed: ({ name }, { efficiency, depth }) => {
      const before = qualities.get(name) ?? { efficiency: 1, depth: 0 };
      qualities.set(name, {
        efficiency: Math.min(before.efficiency, efficiency),
        depth: Math.max(before.depth, depth),
      });
    },
    changes: places && (() => places.steps.map(({ from, value }) => ({ from, targets: targetsFor(value) }))),
    weights:
      (fields.weights ?? (spectra.type === 'cf32' || nulls.length > 0 ? 'float' : 8)) === 8 ? 'ci8' : 'cf32',
    calibrated: observed.calibrated,
    flaggedInputs: observed.flaggedInputs,
    rules: observed.rules,
  };
  const pieces = beamPieces(front, product);
  const lastSpectrum = Number.isFinite(recording.samples) ? spectraOfSource(front) - 1 : 0;
  const ends = [grid.start, addSamples(grid.start, lastSpectrum, grid.spectrumRateHz)];
  const phaseLoss = Math.max(...ends.map((moment) => beamPhaseLoss(front, product, moment)));
  if (Number.isFinite(recording.samples))
    refuseSet(
      product,
      ends.map((moment) => skyFrame(telescope.site, moment)),
    );
  const efficiency = leastEfficiency(front, product, ends);
  const settings: BeamFileSettings = {
    path: path ?? '',
    product,
    grid,
    phaseLoss,
    bits: fields.bits ?? (detection === 'none' ? 8 : 32),
    qualityOf: (name) => qualities.get(name),
    ...channelsOf(fields, spectra.frequenciesHz, spectra.channelWidthHz),
    polarisations: spectra.polarisations,
    recordingName: parse(recording.path).base,
  };
  let realTime: RealTimeCost | undefined;
  const refuseTooMany = (beams: number): void => {
    const { secondsPerBeam = 0 } = realTime ?? {};
    if (beams * secondsPerBeam > MOST_OF_REAL_TIME)
      refuse(
        'products.beams.towards',
        `${beams} beams take ${(100 * beams * secondsPerBeam).toFixed(0)} % of real time on this machine, by a measurement`,
        `take at most ${Math.floor(MOST_OF_REAL_TIME / secondsPerBeam)}, fewer channels, or a faster backend`,
      );
  };
  const isVoltages = detection === 'none';
  const files =
    path === undefined ? undefined : isVoltages ? new VoltageFiles(settings) : new PowerFiles(settings);
  const { channels, bits } = settings;
  const [planes, countBits] = isVoltages
    ? [2 * spectra.polarisations, 16 * spectra.polarisations]
    : [detections[detection], detection === 'XX,YY' ? 64 : 32];
  const valueS = spectraPerValue / grid.spectrumRateHz;
  return {
    name: 'beams',
    clock: pieces,
    isCalibrated: true,
    parts: { cut: 'whole' },
    warnings: efficiency < LOW_EFFICIENCY ? [message('beams.inefficient', { efficiency })] : [],
    get paths() {
      return files?.paths ?? [];
    },
    refusePlaces: (steered, at) => {
      if (sum === 'incoherent')
        refuse('beams', 'an incoherent sum points nowhere', 'change the places of coherent beams');
      const found = targetsOf(fields, steered, observed);
      refuseTooMany(found.length);
      const changed = { ...product, targets: found, changes: undefined };
      beamPieces(front, changed);
      beamPhaseLoss(front, changed, at);
      leastEfficiency(front, changed, [at]);
      refuseSet(changed, [skyFrame(telescope.site, at)]);
      for (const one of files?.further(found.length) ?? [])
        if (existsSync(one))
          refuse('beams', `${one} exists, and a new beam may have its name`, 'move it away');
    },
    sizeBytes:
      (recording.samples / sampleRateOf(recording) / valueS) *
      channels *
      ((targets.length * planes * bits + countBits) / 8),
    facts: () => ({
      beams: files?.made ?? targets.map(({ name }) => ({ name })),
      detection,
      spectraPerValue,
      valueS,
      channels,
      bits,
      phaseLoss,
      pieceS: pieces.spectra / grid.spectrumRateHz,
      quality: worstOf([...qualities.values()]),
      ...(files?.totals ?? NOTHING_WRITTEN),
    }),
    make: async (making) => {
      const { backend, history } = making;
      realTime = making.realTime;
      if (realTime && sum === 'coherent') {
        realTime.secondsPerBeam ??= await secondsPerBeam(front, product, backend);
        refuseTooMany(targets.length);
      }
      const write = files
        ? (made: BeamItem) => files.take(made, history)
        : (beams: BeamItem) => handingOver(making, 'beams')({ kind: 'beams', beams });
      const take = (item: BeamItem): Promise<void> => {
        if (making.listener?.beams && item.kind !== 'rest') {
          const index = item.kind === 'voltages' ? item.index : item.firstValue * spectraPerValue;
          const start = addSamples(grid.start, index, grid.spectrumRateHz);
          making.listener.beams({ item, start, isCoherent: sum === 'coherent', planes });
        }
        return write(item);
      };
      const stage = await prepareBeams(front, product, backend);
      return {
        composed: {
          from: 'spectra',
          clock: pieces,
          stage: chain(stage, passing<BeamItem>(take)),
        },
        finish: async () => files?.finish(),
        keep: async () => (await files?.keep()) ?? '',
        abandon: async () => files?.abandon(),
      };
    },
  };
}

function detectionOf(fields: Product<'beams'>, { spectra }: Observed): Detection | 'none' {
  const isVdif = /\.vdif$/i.test(fields.beams ?? '');
  const detection = fields.detection ?? (isVdif ? 'none' : 'I');
  if (fields.beams !== null && (detection === 'none') !== isVdif)
    refuse(
      'products.beams.detection',
      isVdif ? 'a .vdif holds voltages' : 'a .fil or .sf holds powers',
      isVdif ? 'leave it out, or name a .fil' : 'detect I, XX,YY or IQUV; or name a .vdif',
    );
  if (detection === 'none') {
    if (fields.sum === 'incoherent')
      refuse('products.beams.detection', 'an incoherent sum has no voltages', 'name a .fil');
    return detection;
  }
  if (spectra.polarisations === 1 && detection !== 'I')
    refuse(
      'products.beams.detection',
      `${detection} needs two polarisations, and stations have one`,
      'detect I',
    );
  if (detection === 'IQUV' && fields.sum === 'incoherent')
    refuse(
      'products.beams.detection',
      'a sum of powers has no phase between X and Y',
      'detect I or XX,YY, or add coherently',
    );
  return detection;
}

function targetsOf(
  fields: Product<'beams'>,
  towards: readonly string[] | undefined,
  { telescope, centre }: Observed,
): readonly PhaseCentre[] {
  const where = 'products.beams.towards';
  const { grid, spacing } = fields;
  if (fields.sum === 'incoherent') {
    if (towards !== undefined || grid !== undefined)
      refuse(where, 'an incoherent sum points nowhere: it is as wide as an element', 'leave it out');
    return [parseTarget('zenith', where)];
  }
  refuseUnplaced(where, telescope, 'beams have no direction');
  const most = towards?.length ?? 0;
  if (most > MOST_BEAMS) refuse(where, `names ${most} beams`, `take at most ${MOST_BEAMS}`);
  const asked = towards?.map((one) => parseTarget(one, where)) ?? (centre ? [centre] : []);
  if (asked.length === 0 && towards === undefined)
    refuse(where, 'says no place', 'name one, like B0329+54 or "az 120 el 45"');
  if (spacing !== undefined && grid === undefined)
    refuse('products.beams.spacing', 'is of a grid', 'give products.beams.grid too');
  if (grid === undefined) return asked;
  const spacingDeg =
    spacing ?? refuse('products.beams.spacing', 'is missing', 'say how far apart the beams of the grid are');
  const { columns, rows } = beamGrid(fields, asked.length);
  return asked.flatMap((target) => gridAround(target, { columns, rows, spacingDeg }));
}

function nullsOf(fields: Product<'beams'>, { telescope, flaggedInputs, spectra }: Observed): PhaseCentre[] {
  const where = 'products.beams.nulls';
  if (fields.sum === 'incoherent' && (fields.nulls ?? fields.taper) !== undefined)
    refuse(where, 'an incoherent sum has no taper and no nulls', 'add coherently');
  if (fields.nulls === undefined) return [];
  if (fields.weights === 8)
    refuse(where, 'weights of 8 bits leave a response of about −50 dB in a null', 'leave weights out');
  refuseUnplaced(where, telescope, 'nulls have no direction');
  const { polarisations } = spectra;
  const used = (p: number): number =>
    flaggedInputs.reduce((sum, flagged, a) => sum + (a % polarisations === p ? 1 - flagged : 0), 0);
  const stations = Math.min(...Array.from({ length: polarisations }, (_, p) => used(p)));
  if (fields.nulls.length >= stations)
    refuse(where, `${fields.nulls.length} nulls need more stations than ${stations}`, 'take fewer nulls');
  return fields.nulls.map((one) => parseTarget(one, where));
}

/** [s], Gaussian around the centre of the stations. */
function taperOf(telescope: Telescope, halfAtM: number): Float64Array {
  refuseUnplaced('products.beams.taper', telescope, 'a taper is of distances');
  const { stations } = telescope;
  const axes = ['eastM', 'northM', 'upM'] as const;
  const middle = axes.map((axis) => stations.reduce((sum, one) => sum + one[axis], 0) / stations.length);
  return Float64Array.from(
    stations,
    (one) => 2 ** -((Math.hypot(...axes.map((axis, n) => one[axis] - middle[n])) / halfAtM) ** 2),
  );
}

/** Of all beams at some instants; refused if a beam points at a null, or if a taper leaves no weight. */
function leastEfficiency(front: Front, product: BeamsProduct, moments: readonly Instant[]): number {
  if (!product.taper && product.nulls?.length === 0) return 1;
  const efficiency = Math.min(...moments.map((moment) => beamEfficiency(front, product, moment)));
  if (efficiency < LEAST_EFFICIENCY)
    refuse(
      product.nulls?.length === 0 ? 'products.beams.taper' : 'products.beams.nulls',
      `weights have ${(100 * efficiency).toPrecision(1)} % of the sensitivity of equal weights: a null is within a beam, or few stations are left`,
      'take other nulls, or a wider taper',
    );
  return efficiency;
}

const worstOf = (all: readonly BeamQuality[]): BeamQuality | undefined =>
  all.length === 0
    ? undefined
    : {
        efficiency: Math.min(...all.map(({ efficiency }) => efficiency)),
        depth: Math.max(...all.map(({ depth }) => depth)),
      };

/** Whole spectra. */
function perValueOf({ every }: Product<'beams'>, spectrumRateHz: number): number {
  if (every === undefined) return 1;
  const spectra = Math.round(every * spectrumRateHz);
  if (spectra < 1)
    refuse(
      'products.beams.every',
      `${every} s is shorter than a spectrum`,
      `give at least ${1 / spectrumRateHz} s`,
    );
  return spectra;
}

/** A filterbank has constant channel spacing. */
function channelsOf(
  fields: Product<'beams'>,
  frequenciesHz: Float64Array,
  channelWidthHz: number,
): Pick<BeamFileSettings, 'averageChannels' | 'firstHz' | 'stepHz' | 'channels'> {
  const averageChannels = fields['average-channels'] ?? 1;
  if (frequenciesHz.length % averageChannels !== 0)
    refuse(
      'products.beams.average-channels',
      `${frequenciesHz.length} channels are no whole number of groups of ${averageChannels}`,
      'take a divisor',
    );
  const stepHz = frequenciesHz.length === 1 ? channelWidthHz : uniformStep(frequenciesHz);
  if (stepHz === undefined)
    return refuse(
      'products.beams',
      'channels are not evenly spaced, and a filterbank has one step between them',
      'make beams of channels that are',
    );
  return {
    averageChannels,
    channels: frequenciesHz.length / averageChannels,
    firstHz: frequenciesHz[0] + (stepHz * (averageChannels - 1)) / 2,
    stepHz: stepHz * averageChannels,
  };
}

/** Nothing can be received from a target that is always below the horizon. */
function refuseSet(
  { targets, nulls = [], sum }: BeamsProduct,
  frames: readonly ReturnType<typeof skyFrame>[],
): void {
  if (sum === 'incoherent') return;
  for (const target of [...targets, ...nulls])
    if (frames.every((frame) => altitudeDeg(target.directionEnu(frame)) < 0))
      refuse('products.beams.towards', `${target.name} is below the horizon`, 'choose a place that is up');
}
