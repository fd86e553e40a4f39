/** Messages on gains: how they were solved, and how they fit the data they are applied to. */
import { formatHz, formatSeconds, percent, twoDigits } from '../core/units.js';
import { count, declare, listed } from './declare.js';

const atTime = (timeUtc: string | undefined): string => (timeUtc === undefined ? '' : `, at ${timeUtc}`);
const worstAt = (timeUtc: string | undefined): string =>
  timeUtc === undefined ? '' : ` (at worst, ${timeUtc})`;
const channelsText = (channels: readonly number[], firstHz: number): string =>
  `channel${channels.length === 1 ? '' : 's'} ${listed(channels, 6)} (${channels.length === 1 ? 'at' : 'from'} ${formatHz(firstHz)})`;
const feedsText = { linear: ['X', 'Y', 'U and V'], circular: ['R', 'L', 'Q and U'] } as const;

export const calibrateMessages = {
  'calibrate.times-without-data': declare({
    severity: 'note',
    data: { times: 'how many' },
    text: ({ times }: { times: number }) =>
      `${count(times, 'more time')} ${times === 1 ? 'is' : 'are'} flagged or missing as a whole; gains are interpolated there`,
    help: 'All data of these solution intervals are flagged or missing. Readers of the gains interpolate between the solutions before and after.',
  }),
  'calibrate.reference-changed': declare({
    severity: 'note',
    data: {
      station: 'the reference station',
      by: '`one`: it has gains at all times; `continued`: no station has, and each solution follows the phase of the one before',
      angleOf: 'the station whose cross-hand phase was given, where one was given',
    },
    text: ({ station, by, angleOf }: { station: string; by: 'one' | 'continued'; angleOf?: string }) =>
      (by === 'one'
        ? `reference: ${station}, the first station that has gains at all of these times`
        : `reference: no station has gains at all of these times: each solution follows the phase of the one before, the first is relative to ${station}`) +
      (angleOf === undefined ? '' : `; the angle of products.gains.cross-hand is used as that of ${angleOf}`),
    help: 'The reference station, whose phase is zero, has no gains at some times. Name another with products.gains.reference, or flag those times.',
  }),
  'calibrate.delay-range': declare({
    severity: 'note',
    data: { rangeS: 'delays are known within plus or minus this' },
    text: ({ rangeS }: { rangeS: number }) =>
      `delays are known within ±${formatSeconds(rangeS)}, half a turn between channels: a delay beyond that comes out wrong by ${formatSeconds(2 * rangeS)}`,
    help: 'A delay is the slope of the phase over frequency. A slope of more than half a turn between neighbouring channels looks like another slope. Narrower channels widen the range.',
  }),
  'calibrate.delays-near-edge': declare({
    severity: 'warning',
    data: { inputs: 'their names', delays: 'how many delays there are' },
    text: ({ inputs, delays }: { inputs: readonly string[]; delays: number }) =>
      `${inputs.length} of ${delays} delays ${inputs.length === 1 ? 'is' : 'are'} near the edge of that range (${listed(inputs, 6)}) and may be beyond it; narrower channels would show it`,
    help: 'These delays are above 90 % of the range that the width of a channel allows, so they may be wrong by the whole range. Correlate with narrower channels and calibrate again.',
  }),
  'calibrate.shape-misfit': declare({
    severity: 'warning',
    data: {
      over: '`band` or `delay`, as asked for',
      what: 'the residuals, in words',
      fix: 'what to ask for instead',
    },
    text: ({ over, what, fix }: { over: string; what: string; fix: string }) =>
      `products.gains.over: ${over} does not fit: ${what}; ${fix}`,
    help: 'Gains of this shape (one for the band, or a delay) leave much larger residuals than a gain for each channel. The `overMisfit` field of --json has the numbers.',
  }),
  'calibrate.polarisation-of-feeds': declare({
    severity: 'warning',
    data: { why: 'why the orientation of the feeds is unknown' },
    text: ({ why }: { why: string }) =>
      `Q and U of the model are used as those of X and Y, without rotation: ${why}`,
    help: 'The orientation of the feeds on the sky is unknown, so the polarisation of the model cannot be rotated onto them. State it with products.gains.feeds, or use an unpolarised model.',
  }),
  'calibrate.beam-unknown': declare({
    severity: 'note',
    data: {},
    text: () =>
      'model: no primary beam is known for these stations (products.gains.element gives one): fluxes are apparent',
    help: 'The model is not multiplied by a beam, so sources away from the centre of the beam count with their full flux. Give the beam with products.gains.element.',
  }),
  'calibrate.solves-without-data': declare({
    severity: 'note',
    data: { solves: 'how many' },
    text: ({ solves }: { solves: number }) =>
      `${solves} more have no gains: all but at most two stations of a channel or a feed are flagged or missing`,
    help: 'A solve needs at least three stations with data in the same channel and polarisation.',
  }),
  'calibrate.open-gains': declare({
    severity: 'warning',
    data: { solves: 'how many' },
    text: ({ solves }: { solves: number }) =>
      `${solves} more have no gains: their baselines do not determine them, other gains would fit as well`,
    help: 'Gains need three stations with baselines between all of them, or a longer loop of an odd number of baselines. Flag less, or use shorter baselines too (products.gains.min-baseline: 0).',
  }),
  'calibrate.inputs-left-out': declare({
    severity: 'warning',
    data: {
      inputs: 'of each its `name`, the `level` relative to the median, and `by` which of powers and gains',
      stations: 'of each its `name` and the `reason`',
    },
    text: ({
      inputs,
      stations,
    }: {
      inputs: readonly { readonly name: string; readonly level: number; readonly by: string }[];
      stations: readonly { readonly name: string; readonly reason: string }[];
    }) =>
      `left out: ${listed(
        [
          ...inputs.map(({ name, level, by }) => `${name} (${by} ${twoDigits(level)} times the median)`),
          ...stations.map(
            ({ name, reason }) =>
              `${name} (${reason === 'apart' ? 'no baseline connects it to the others' : reason})`,
          ),
        ],
        6,
      )}${inputs.length + stations.length > 6 ? '; --json lists all' : ''}`,
    help: 'Inputs whose power or gain is far from the others, and stations that no solve could use, have no gains. products.gains.odd sets the factor; products.gains.odd: 0 keeps all inputs. A picture of the data (`inspect`) shows their powers.',
  }),
  'calibrate.channels-left-out': declare({
    severity: 'warning',
    data: {
      channels:
        'of each its number `channel`, `frequencyHz`, `level` relative to the median channel, `by` gains or residuals, with several times `timeUtc`',
    },
    text: ({
      channels,
    }: {
      channels: readonly {
        readonly channel: number;
        readonly frequencyHz: number;
        readonly level: number;
        readonly by: 'gain' | 'residual';
        readonly timeUtc?: string;
      }[];
    }) =>
      `left out: ${listed(
        channels.map(
          ({ channel, frequencyHz, level, by, timeUtc }) =>
            `channel ${channel} (${formatHz(frequencyHz)}${atTime(timeUtc)}; ${
              by === 'gain'
                ? `gains ${twoDigits(level)} times the median channel's`
                : `the model explains ${twoDigits(level)} times as much as in the median channel`
            })`,
        ),
        6,
      )}`,
    help: 'Channels whose gains are far from those of the other channels, or where the model explains much less, have no gains: often the edges of a band, or interference. products.gains.odd sets the factor.',
  }),
  'calibrate.gains-left-out': declare({
    severity: 'warning',
    data: { gains: 'how many' },
    text: ({ gains }: { gains: number }) =>
      `left out: ${count(gains, 'more gain')} unlike those of the same input in other channels; --json lists all`,
    help: 'A single gain that is far from those of the same input in the other channels is left out. products.gains.odd sets the factor; the `outlierGains` field of --json lists them.',
  }),
  'calibrate.unconverged': declare({
    severity: 'error',
    data: {
      unconverged: 'how many solves',
      solves: 'of how many',
      channels: 'their numbers',
      firstHz: 'the frequency of the first of them',
      timesUtc: 'when, with several times',
    },
    text: ({
      unconverged,
      solves,
      channels,
      firstHz,
      timesUtc,
    }: {
      unconverged: number;
      solves: number;
      channels: readonly number[];
      firstHz: number;
      timesUtc: readonly string[];
    }) =>
      `${unconverged} of ${solves} solves did not converge and have no gains: ${channelsText(channels, firstHz)}` +
      `${timesUtc.length > 0 ? ` at ${listed(timesUtc, 3)}` : ''}; raise products.gains.most-iterations, or look at them with inspect`,
    help: 'The solver reached the largest number of iterations. The rest of the gains is written, and the exit code is 2. Noise without a source, or a wrong model, converges slowly.',
  }),
  'calibrate.times-unexplained': declare({
    severity: 'error',
    data: {
      timesUtc: 'the times without gains',
      of: 'how many times there are',
      explained: 'largest part of the power of the sky that the model explains there',
    },
    text: ({ timesUtc, of, explained }: { timesUtc: readonly string[]; of: number; explained: number }) =>
      `${timesUtc.length} of ${of} times have no gains: the model explains ${percent(explained, 0)} of the sky's power there` +
      `${timesUtc.length > 1 ? ' at most' : ''}, at ${listed(timesUtc, 3)}; was another source up then? products.gains.accept-model writes them all the same`,
    help: 'The residual is compared with what noise would leave. At these times the model does not describe the sky, so the gains are not written, and the exit code is 2. Add the missing source to the model, or flag these times.',
  }),
  'calibrate.nothing-explained': declare({
    severity: 'warning',
    data: { residual: 'median over the solves' },
    text: ({ residual }: { residual: number }) =>
      `the model explains almost nothing of the data (residual ${percent(residual, 1)}): they are mostly noise, or another sky was up; look at an image before you use these gains`,
    help: 'The residual of the median solve is above 90 %. The solver converges on noise too. Check the time, the telescope and the sources of the model; integrate longer.',
  }),
  'calibrate.model-poor': declare({
    severity: 'warning',
    data: { explained: 'part of the power of the sky', timeUtc: 'the worst time, of several' },
    text: ({ explained, timeUtc }: { explained: number; timeUtc?: string }) =>
      `the model explains ${percent(explained, 0)} of the sky's power${atTime(timeUtc)}: do not use these gains before you know why`,
    help: 'Most of the power that is not noise is not in the model: a source is missing, the time or the telescope is wrong, or the diffuse sky is bright on short baselines (products.gains.min-baseline, products.gains.diffuse: galaxy).',
  }),
  'calibrate.model-incomplete': declare({
    severity: 'warning',
    data: {
      unexplained: 'part of the power of the sky',
      noiseResidual: 'the residual that noise alone would leave',
      timeUtc: 'the worst time, of several',
    },
    text: ({
      unexplained,
      noiseResidual,
      timeUtc,
    }: {
      unexplained: number;
      noiseResidual: number;
      timeUtc?: string;
    }) =>
      `the model leaves ${percent(unexplained, 0)} of the sky's power unexplained${atTime(timeUtc)} (noise alone would leave a residual of ${percent(noiseResidual)}): part of the sky is not in it`,
    help: 'Gains may still be good. Add the missing sources to the model, or leave out the short baselines that receive the diffuse sky (products.gains.min-baseline).',
  }),
  'calibrate.model-unchecked': declare({
    severity: 'note',
    data: {
      left: 'part of the power of the data that the model leaves, noise included',
      isNoiseUnknown: 'whether the file has no autocorrelations, which state the noise',
      timeUtc: 'the worst time, of several',
    },
    text: ({ left, isNoiseUnknown, timeUtc }: { left: number; isNoiseUnknown: boolean; timeUtc?: string }) =>
      `the model leaves ${percent(left, 0)} of the data's power${atTime(timeUtc)}, and ${
        isNoiseUnknown
          ? 'without autocorrelations it is unknown how much of that is noise'
          : 'noise may be all of it or little'
      }: whether it is the right sky is unknown`,
    help: 'Autocorrelations state the noise, with which the residual is compared. Correlate with autocorrelations to have this check.',
  }),
  'calibrate.source-outside-model': declare({
    severity: 'warning',
    data: {
      name: 'a bright source that is not in the model',
      offsetDeg: 'where it is seen, from its place',
      overFlux: 'its brightness over its flux',
      finding:
        '`missing`: not seen; `displaced`: seen elsewhere; `scale`: in its place, and too bright or too faint',
      timeUtc: 'the worst time, of several',
    },
    text: ({
      name,
      offsetDeg,
      overFlux,
      finding,
      timeUtc,
    }: {
      name: string;
      offsetDeg: number;
      overFlux: number;
      finding: 'missing' | 'displaced' | 'scale';
      timeUtc?: string;
    }) =>
      finding === 'missing'
        ? `check: ${name}, not in the model, is not seen at its catalogue position, where it should be bright${worstAt(timeUtc)}`
        : `check: ${name}, not in the model, is ${offsetDeg.toFixed(1)}° from its catalogue position, ${twoDigits(overFlux)} times its flux${worstAt(timeUtc)}` +
          {
            displaced: ': the sky seems displaced, or something brighter is near',
            scale: ": its position is right, the model's flux scale is not",
          }[finding],
    help: 'A calibrated image of a bright source that the model does not contain is an independent test of the gains. A displaced source means a wrong time, place or sign; a wrong scale means a wrong flux or beam in the model.',
  }),
  'calibrate.source-confirmed': declare({
    severity: 'note',
    data: {
      name: 'a bright source that is not in the model',
      offsetDeg: 'where it is seen, from its place',
      overFlux: 'its brightness over its flux',
      timeUtc: 'the worst time, of several',
    },
    text: ({
      name,
      offsetDeg,
      overFlux,
      timeUtc,
    }: {
      name: string;
      offsetDeg: number;
      overFlux: number;
      timeUtc?: string;
    }) =>
      `check: ${name}, not in the model, is ${offsetDeg.toFixed(1)}° from its catalogue position, ${twoDigits(overFlux)} times its flux${worstAt(timeUtc)}`,
    help: 'A calibrated image of a bright source that the model does not contain is an independent test of the gains. It is where it should be.',
  }),
  'calibrate.cross-hand-unknown': declare({
    severity: 'note',
    data: { feeds: '`linear` or `circular`' },
    text: ({ feeds }: { feeds: 'linear' | 'circular' }) => {
      const [first, second, mixed] = feedsText[feeds];
      return `the phase between ${first} and ${second} is unknown: images leave out ${mixed}; products.gains.cross-hand determines it`;
    },
    help: 'Gains of each polarisation leave the phase between the two open. A polarised source in the model, V = 0 (products.gains.cross-hand: v-zero:u-positive), a known angle, or earlier gains determine it.',
  }),
  'calibrate.cross-hand-partly-known': declare({
    severity: 'note',
    data: {
      feeds: '`linear` or `circular`',
      known: 'channels and times where it is known',
      of: 'of how many',
    },
    text: ({ feeds, known, of }: { feeds: 'linear' | 'circular'; known: number; of: number }) =>
      `the phase between ${feedsText[feeds][0]} and ${feedsText[feeds][1]} is known in ${known} of ${of} channels and times: the cross hands of the others are too weak, so images leave ${feedsText[feeds][2]} out there`,
    help: 'The cross-hand products of these channels are too weak against the noise. Integrate longer, or use a brighter polarised source.',
  }),
  'calibrate.leakage-high': declare({
    severity: 'warning',
    data: { largest: 'of the other polarisation, as a fraction', most: 'above which this is reported' },
    text: ({ largest, most }: { largest: number; most: number }) =>
      `leakage of ${percent(largest, 1)} is more than antennas have (${percent(most, 1)}): the model's polarisation has wrong signs, its feeds have another orientation (products.gains.feeds), or X and Y are swapped`,
    help: 'A working feed does not receive so much of the other polarisation. Check products.gains.feeds, the order of X and Y, and the signs of Q, U and V of the model.',
  }),
  'calibrate.unpolarised-fits': declare({
    severity: 'warning',
    data: {
      better: '`unpolarised`, or `neither`: both fit equally',
      residual: 'of the polarised model, as a fraction',
      medianLeakage: 'with it',
      unpolarisedResidual: 'of the same model without polarisation',
      unpolarisedLeakage: 'with that',
    },
    text: ({
      better,
      residual,
      medianLeakage,
      unpolarisedResidual,
      unpolarisedLeakage,
    }: {
      better: string;
      residual: number;
      medianLeakage: number;
      unpolarisedResidual: number;
      unpolarisedLeakage: number;
    }) =>
      `an unpolarised model fits ${better === 'unpolarised' ? 'better' : 'as well'} (it leaves ${percent(unpolarisedResidual)}, this one ${percent(residual)}), ` +
      `with a median leakage of ${percent(unpolarisedLeakage, 1)}, not ${percent(medianLeakage, 1)}: check the signs of Q, U and V of the model (products.gains.polarise) and products.gains.feeds`,
    help: 'Where a model leaves rotations of Q, U and V open, matrices fit any signs equally well, and wrong ones show as leakage. The model was solved for once more without its polarisation, and that is at least as good. Correct it, or leave products.gains.polarise out.',
  }),
  'calibrate.rotations-open': declare({
    severity: 'note',
    data: { rotations: 'of Q, U and V, 1 to 3' },
    text: ({ rotations }: { rotations: number }) =>
      `the model leaves ${rotations === 1 ? 'one rotation' : `${rotations} rotations`} of Q, U and V open: images have I alone. ` +
      'Leakage is the smallest possible by convention; three sources of different polarisation would determine it (products.gains.polarise)',
    help: 'Calibrating leakage needs sources of three independent polarisations in the model, or one over a range of parallactic angles. I is right in any case.',
  }),
  'integrations.not-all-used': declare({
    severity: 'note',
    data: {
      first: 'the first that was used, from 0',
      used: 'how many',
      inFile: 'how many the file has',
      durationS: 'of those that were used',
      other: 'what uses others',
    },
    text: ({
      first,
      used,
      inFile,
      durationS,
      other,
    }: {
      first: number;
      used: number;
      inFile: number;
      durationS: number;
      other: string;
    }) =>
      [
        first > 0
          ? `the first ${first === 1 ? '' : `${first} `}of ${inFile} integrations ${first === 1 ? 'has' : 'have'} no data`
          : '',
        first + used < inFile
          ? `the ${first === 0 ? 'first' : 'next'} ${used === 1 ? '' : `${used} `}of ${inFile} integrations, ${formatSeconds(durationS)}, ${used === 1 ? 'is' : 'are'} used: the sky rotates too far in a longer sum; ${other}`
          : '',
      ]
        .filter((part) => part !== '')
        .join('; '),
    help: 'Visibilities are added up as long as the rotation of the sky costs little. source.integration chooses other integrations, products.gains.every solves for all of them.',
  }),
  'gains.solution-not-used': declare({
    severity: 'warning',
    data: { why: 'in words, with the time' },
    text: ({ why }: { why: string }) => why,
    help: 'A solution of gains.solve did not converge, or its model does not describe the sky. The gains before it stay in use.',
  }),
  'gains.channels-without': declare({
    severity: 'warning',
    data: { path: 'the file of gains', without: 'channels without gains', of: 'how many channels there are' },
    text: ({ path, without, of }: { path: string; without: number; of: number }) =>
      `${path}: ${without} of ${of} channels have no gains and are not used`,
    help: 'The gains of these channels were left out or did not converge. Calibrate these channels again, or accept that images do not use them.',
  }),
  'gains.all-unsolved': declare({
    severity: 'warning',
    data: { path: 'the file of gains' },
    text: ({ path }: { path: string }) =>
      `${path}: has no gain: all are unsolved, flagged or NaN, so that all data are flagged`,
    help: 'Nothing in this file can calibrate data. Solve for gains again.',
  }),
  'gains.origin-unknown': declare({
    severity: 'warning',
    data: { path: 'the file of gains' },
    text: ({ path }: { path: string }) =>
      `${path}: does not state which data it was solved from, and the data are in Jy already`,
    help: 'Where the gains were solved from uncalibrated data, they would be applied twice. Make sure that they were solved from data in Jy.',
  }),
  'gains.other-telescope': declare({
    severity: 'warning',
    data: { path: 'the file of gains', telescope: 'its telescope', dataOf: 'that of the data' },
    text: ({ path, telescope, dataOf }: { path: string; telescope: string; dataOf: string }) =>
      `${path}: is of ${telescope}, the data of ${dataOf}; their stations have the same names`,
    help: 'The stations agree by name, the telescopes do not. Make sure that the gains belong to these data.',
  }),
  'gains.far': declare({
    severity: 'note',
    data: {
      path: 'the file of gains',
      timeUtc: 'of the nearest of them',
      farS: 'to the farthest of the data',
    },
    text: ({ path, timeUtc, farS }: { path: string; timeUtc: string; farS: number }) =>
      `${path}: its nearest gains are of ${timeUtc}, up to ${formatSeconds(farS)} from the data`,
    help: 'Gains drift with temperature, and phases with the ionosphere. Gains are constant before the first and after the last solution. Calibrate data of the same time, or more of them with products.gains.every.',
  }),
  'gains.phases-moved': declare({
    severity: 'warning',
    data: {
      path: 'the file of gains',
      inputs: 'whose phase moved by more than a radian',
      of: 'how many there are',
      mostDeg: 'the largest change, relative to what all stations have in common',
      fromUtc: 'the first of those two solutions',
      betweenS: 'from one to the other',
    },
    text: ({
      path,
      inputs,
      of,
      mostDeg,
      fromUtc,
      betweenS,
    }: {
      path: string;
      inputs: number;
      of: number;
      mostDeg: number;
      fromUtc: string;
      betweenS: number;
    }) =>
      `${path}: phases of ${inputs} of ${of} inputs moved by more than a radian between solutions, by ${mostDeg.toFixed(0)}° in the ${formatSeconds(betweenS)} from ${fromUtc}: gains between and beyond them are uncertain`,
    help: 'Between two solutions phases are drawn the shorter way, which is a guess where they move fast, or where noise moves them. Solve more often (products.gains.every), with more signal, or take data nearer to a solution.',
  }),
  'gains.other-beam': declare({
    severity: 'warning',
    data: {
      path: 'the file of gains, where one was given',
      element: 'the beam of its model',
      dividedBy: 'the beam that the image is divided by',
    },
    text: ({ path, element, dividedBy }: { path?: string; element: string; dividedBy: string }) =>
      `${path ?? 'products.images'}: the gains were solved with the beam ${element}, and the image is divided by ${dividedBy}: fluxes are wrong by as much as these differ`,
    help: 'Use the same beam in calibration (products.gains.element) and in the correction of the image (products.images.beam-corrected, products.images.element).',
  }),
  'gains.other-frequencies': declare({
    severity: 'warning',
    data: {
      path: 'the file of gains',
      offHz: 'largest distance of a channel from the nearest of the data',
      cableM: 'cables that differ by this length …',
      phaseDeg: '… have this phase error',
    },
    text: ({
      path,
      offHz,
      cableM,
      phaseDeg,
    }: {
      path: string;
      offHz: number;
      cableM: number;
      phaseDeg: number;
    }) =>
      `${path}: its channels are up to ${formatHz(offHz)} from those of the data: with cables that differ by ${cableM} m phases are wrong by ${twoDigits(phaseDeg)}°`,
    help: 'The gain of the nearest channel is used. Solve for gains with the channels of the data, or use products.gains.over: delay, which fits a slope over the band.',
  }),
  'gains.values-flagged': declare({
    severity: 'warning',
    data: { flagged: 'values', of: 'how many' },
    text: ({ flagged, of }: { flagged: number; of: number }) =>
      `${percent(flagged / of, 1)} of the values are flagged because they have no gain`,
    help: 'Visibilities of an input or a channel without a gain cannot be calibrated.',
  }),
  'gains.cross-hands-flagged': declare({
    severity: 'warning',
    data: { hasLeakage: 'whether the gains include leakage', feeds: '`linear` or `circular`' },
    text: ({ hasLeakage, feeds }: { hasLeakage: boolean; feeds: 'linear' | 'circular' }) =>
      hasLeakage
        ? 'the cross hands are flagged: the model of these gains leaves a rotation of Q, U and V open, so that only I is right'
        : `the cross hands are flagged: the phase between ${feeds === 'circular' ? 'R and L' : 'X and Y'} is unknown in these gains (products.gains.cross-hand)`,
    help: 'Products of two polarisations need the phase between them. See products.gains.cross-hand, or gains.cross-hand: known where you know that it is zero.',
  }),
} as const;
