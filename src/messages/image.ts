/** Messages on images. */
import { formatHz, formatSeconds, percent, twoDigits } from '../core/units.js';
import { count, declare } from './declare.js';

const degrees = (value: number): string => `${value.toFixed(1)}°`;
const lengthText = (metres: number): string =>
  metres >= 1000 ? `${(metres / 1000).toFixed(1)} km` : `${metres.toFixed(0)} m`;
/** The remaining fraction of an amplitude. */
const kept = (share: number): string => percent(share, share >= 0.99 ? 2 : 0);

export const imageMessages = {
  'image.coarse-pixels': declare({
    severity: 'warning',
    data: {
      loss: 'largest, of a source between pixels, as a fraction',
      pixels: 'how many pixels lose at most `little`',
      little: 'as a fraction',
    },
    text: ({ loss, pixels, little }: { loss: number; pixels: number; little: number }) =>
      `pixels are coarse for the beam: a source between them is up to ${percent(loss, 0)} too faint, ` +
      `${percent(little, 0)} with ${pixels} pixels (products.images.pixels), or in a narrower products.images.field`,
    help: 'A pixel is wider than about half a beam, so the peak of a source may be between pixels. Ask for more pixels or a narrower field.',
  }),
  'image.single-polarisation': declare({
    severity: 'warning',
    data: { plane: 'what the image is of: XX, YY, RR or LL' },
    text: ({ plane }: { plane: string }) =>
      `the image is of ${plane}: no data are left of the other polarisation, and Stokes I needs both`,
    help: 'All data of one polarisation are flagged or missing. The image has the beam and the scale of the other, and contains its Q (linear feeds) or V (circular feeds).',
  }),
  'image.partly-single-polarisation': declare({
    severity: 'warning',
    data: { part: 'of the visibilities of I, as a fraction' },
    text: ({ part }: { part: number }) =>
      `${percent(part, 1)} of the visibilities of I are of one polarisation alone, the other is flagged or missing: ` +
      'right for unpolarised sources where both have the same beam and gain',
    help: 'Where one of XX and YY is flagged, I is made of the other. Flag both, or flag less, where polarised sources or differing beams matter.',
  }),
  'image.beam-not-fitted': declare({
    severity: 'note',
    data: {},
    text: () => 'the pixels are too coarse for a fit of the beam: ask for a smaller products.images.cell',
    help: 'A fit of the synthesised beam needs about three pixels across it.',
  }),
  'image.baselines-too-long': declare({
    severity: 'warning',
    data: {
      part: 'of the visibilities, as a fraction',
      cellDeg: 'the pixels that would hold all of them',
      cell: 'the same, in words',
    },
    text: ({ part, cell }: { part: number; cellDeg: number; cell: string }) =>
      `${percent(part, 1)} of the visibilities are left out, of baselines too long for these pixels: ` +
      `a products.images.cell of ${cell} or less, or natural weights, uses all`,
    help: 'Long baselines are outside the uv grid of these pixels, and robust weights need the grid. Use smaller pixels.',
  }),
  'image.channels-blank': declare({
    severity: 'warning',
    data: {
      channels: 'how many',
      of: 'of how many',
      lacking: 'products that are missing there; empty where the image is of one product',
    },
    text: ({ channels, of, lacking }: { channels: number; of: number; lacking: readonly string[] }) =>
      lacking.length === 0
        ? `${channels} of ${of} channels ${channels === 1 ? 'has' : 'have'} no data: blank (NaN) there`
        : `${channels} of ${of} channels lack ${lacking.join(', ')}: Stokes planes that need it are blank there (NaN); without products.images.stokes I uses one polarisation where the other is missing`,
    help: 'All data of these channels are flagged or missing.',
  }),
  'image.smearing': declare({
    severity: 'note',
    data: { by: '`bandwidth` or `time`', loss: 'of a source at the edge of the field, as a fraction' },
    text: ({ by, loss }: { by: 'bandwidth' | 'time'; loss: number }) =>
      `${by} smearing: ${percent(loss, loss > 0.1 ? 0 : 1)} loss at the edge of the field`,
    help: 'Channels are so wide, or integrations so long, that the phase of a source far from the phase centre changes within one. Use narrower channels or shorter integrations, or a narrower field.',
  }),
  'image.late': declare({
    severity: 'warning',
    data: {},
    text: () => 'the ring is nearly full: images are left out until the waiting packets are processed',
    help: 'Visibilities and beams go first: where a live run falls behind, images are left out before packets are lost. The summary counts them (`lateImages`). Image less often, fewer channels or fewer pixels.',
  }),
  'image.slow': declare({
    severity: 'warning',
    data: {
      method: '`direct`, or `flat`: from visibilities',
      seconds: 'that an image takes on this machine',
      everyS: 'from one image to the next, as asked for',
      keptEveryS: 'how often images leave half of the time to the rest, where there is such a cadence',
    },
    text: ({
      method,
      seconds,
      everyS,
      keptEveryS,
    }: {
      method: 'direct' | 'flat' | 'w-term';
      seconds: number;
      everyS: number;
      keptEveryS?: number;
    }) =>
      `${method === 'direct' ? 'a direct image' : 'an image from visibilities'} takes ${formatSeconds(seconds)} of the ${formatSeconds(everyS)} between images: packets may be lost` +
      (keptEveryS === undefined
        ? ''
        : `; with products.images.every ${keptEveryS}s half of the time is left`),
    help: 'Before it listens, Corella makes some images of zeros and measures the time. Spectra are made and correlated in the time that images leave. Where that is too little the ring fills, and packets are lost and counted. Image less often, fewer channels or fewer pixels.',
  }),
  'image.without-data': declare({
    severity: 'note',
    data: { images: 'how many', of: 'of how many' },
    text: ({ images, of }: { images: number; of: number }) =>
      `${images} of the ${of} are blank (NaN): there are no data at their time; the animation leaves them out`,
    help: 'All data of these images are flagged or missing.',
  }),
  'image.left-out': declare({
    severity: 'note',
    data: { images: 'how many', isSolving: 'whether gains are solved during the run' },
    text: ({ images, isSolving }: { images: number; isSolving: boolean }) =>
      `${count(images, 'image')} left out: ${isSolving ? 'there were no gains yet, or ' : ''}no data are left there`,
    help: 'All data of these images are flagged or missing, or came before the first solution of the gains.',
  }),
  'image.cube-ended': declare({
    severity: 'warning',
    data: {
      path: 'of the images',
      what: '`full`: the disk is full, or the folder may not be written; `gone`, `moved`; `many`: no cube is begun, as the data began anew too often',
      images: 'in the cube, or lost with it',
      why: 'the reason, in words',
      to: 'where a moved cube is',
    },
    text: ({
      path,
      what,
      images,
      why,
      to,
    }: {
      path: string;
      what: 'full' | 'gone' | 'moved' | 'many';
      images: number;
      why: string;
      to: string;
    }) => {
      const many = count(images, 'image');
      if (what === 'moved')
        return `${path} was moved to ${to}, where it is whole and holds ${many}; a new one begins`;
      if (what === 'many') return `${path}: ${why}; no cube is begun until the minute is over`;
      if (what === 'full')
        return `${path}: ${why}${images > 0 ? `; it is whole and holds ${many}` : ''}; trying again in 10 s`;
      return images > 0
        ? `${path} ${why}: ${many} lost; a new one begins`
        : `${path} ${why}; tried again with every image`;
    },
    help: 'A live run goes on without this cube and begins a new one when that is possible. Images until then are in no file, and are counted at the end.',
  }),
  'image.direct-error': declare({
    severity: 'warning',
    data: {
      anywhere: 'largest error, as a fraction of a source',
      above10Deg: 'the same above 10° of altitude',
    },
    text: ({ anywhere, above10Deg }: { anywhere: number; above10Deg: number }) =>
      `direct images of this array are wrong by up to ${percent(anywhere, 1)} of a source ` +
      `(${percent(above10Deg, 1)} above 10° of altitude); images from visibilities are exact`,
    help: 'Direct imaging (EPIC) grids stations onto a plane. Stations above or below it, and stations between grid points, cause an error. Image visibilities where it matters.',
  }),
  'image.tilted-plane': declare({
    severity: 'note',
    data: {
      fromZenithDeg: 'of the centre of the image',
      azimuthDeg: 'towards which it is tilted',
      hiddenBelowDeg:
        'of an image of the whole sky: up to this altitude opposite to the tilt the sky is not in the image',
    },
    text: ({
      fromZenithDeg,
      azimuthDeg,
      hiddenBelowDeg,
    }: {
      fromZenithDeg: number;
      azimuthDeg: number;
      hiddenBelowDeg?: number;
    }) =>
      `the image is in the plane of the stations: its centre is ${degrees(fromZenithDeg)} from the zenith, towards azimuth ${azimuthDeg.toFixed(0)}°` +
      (hiddenBelowDeg === undefined
        ? ''
        : `; sky below ${degrees(hiddenBelowDeg)} of altitude towards azimuth ${((azimuthDeg + 180) % 360).toFixed(0)}° is behind that plane and not shown`),
    help: 'The array is on a slope. An image in its own plane is more accurate than one around the zenith; directions in it are right.',
  }),
  'sky.centre-below-horizon': declare({
    severity: 'warning',
    data: {
      field: 'where it was given',
      name: 'of the place',
      lowestDeg: 'its lowest altitude during the data',
      highestDeg: 'its highest',
    },
    text: ({
      field,
      name,
      lowestDeg,
      highestDeg,
    }: {
      field: string;
      name: string;
      lowestDeg: number;
      highestDeg: number;
    }) =>
      highestDeg < 0
        ? `${field}: ${name} is below the horizon, at an altitude of ${degrees(highestDeg).replace('-', '−')}`
        : `${field}: ${name} is below the horizon for part of the data, down to an altitude of ${degrees(lowestDeg).replace('-', '−')}`,
    help: 'The data are delayed or phased towards a place that the telescope does not see. What is up is smeared by that. Check the place, the time and the telescope.',
  }),
  'image.phase-centre-outside': declare({
    severity: 'warning',
    data: { object: 'the phase centre of the file', fromZenithDeg: 'its distance from the zenith' },
    text: ({ object, fromZenithDeg }: { object: string; fromZenithDeg: number }) =>
      `the file's phase centre, ${object}, is ${degrees(fromZenithDeg)} from the zenith, ` +
      (fromZenithDeg > 90 ? 'below the horizon' : 'outside this field around the zenith'),
    help: 'The telescope observed something that is not in this field. products.images.centre images around the phase centre.',
  }),
  'image.stokes-left-out': declare({
    severity: 'note',
    data: {
      planes: 'those that are there',
      why: '`open`: the gains leave a rotation open; `unknown`: the phase between the two polarisations is unknown',
      feeds: '`linear` or `circular`',
    },
    text: ({
      planes,
      why,
      feeds,
    }: {
      planes: string;
      why: 'open' | 'unknown';
      feeds: 'linear' | 'circular';
    }) =>
      `only ${planes}: ` +
      (why === 'open'
        ? 'the model of these gains leaves a rotation of Q, U and V open (three sources of different polarisation determine it)'
        : `these gains do not have the phase between ${feeds === 'linear' ? 'X and Y' : 'R and L'} (products.gains.cross-hand), without which the others are mixed`),
    help: 'See products.gains.cross-hand and products.gains.polarisation: full.',
  }),
  'image.averaged-beam': declare({
    severity: 'note',
    data: { moments: 'how many', frequencies: 'how many' },
    text: ({ moments, frequencies }: { moments: number; frequencies: number }) =>
      `divided by the mean of the beam at ${count(moments, 'moment')} and ${count(frequencies, 'frequency', 'frequencies')}, weighted as in the image`,
    help: 'The primary beam changes with time and frequency; the image is divided by its weighted mean.',
  }),
  'sky.not-tracked-channel': declare({
    severity: 'warning',
    data: {
      longestM: 'the longest baseline',
      kept: 'of the amplitude of a source low in the sky, as a fraction',
      delayWidths: 'the largest delay times the width of a channel',
    },
    text: ({ longestM, kept: part, delayWidths }: { longestM: number; kept: number; delayWidths: number }) =>
      `the sky is not tracked: in a channel the longest baseline, ${lengthText(longestM)}, keeps ${kept(part)} of the amplitude ` +
      `of a source low in the sky (delay × width ${twoDigits(delayWidths)}); use front.delays.track: SOURCE, or narrower front.channels`,
    help: 'Within a wide channel the phase of a source far from the zenith turns on long baselines, and the mean loses amplitude. Track a source, or use narrower channels.',
  }),
  'sky.not-tracked-time': declare({
    severity: 'warning',
    data: {
      longestM: 'the longest baseline',
      kept: 'of the amplitude, as a fraction',
      integrationS: 'how long integrations are',
      turns: 'of its fastest fringe in that time',
      longestS: 'the longest integration that keeps 99 %',
      field: 'the field that sets it',
    },
    text: ({
      longestM,
      kept: part,
      integrationS,
      turns,
      longestS,
      field,
    }: {
      longestM: number;
      kept: number;
      integrationS: number;
      turns: number;
      longestS: number;
      field: string;
    }) =>
      `the sky is not tracked: over ${formatSeconds(integrationS)} its fastest fringe turns ${twoDigits(turns)} times, ` +
      `and the longest baseline, ${lengthText(longestM)}, keeps ${kept(part)} of the amplitude; use front.delays.track: SOURCE, or ${field}: ${formatSeconds(longestS)}`,
    help: 'The Earth rotates during an integration, and fringes on long baselines average out. Track a source, or use shorter integrations.',
  }),
  'sky.delays-by-phase': declare({
    severity: 'note',
    data: { loss: 'of the amplitude of the pair with the largest delay, as a fraction' },
    text: ({ loss }: { loss: number }) =>
      `delays are removed from channels by phases alone: the pair with the largest delay loses ${percent(loss, loss < 0.01 ? 2 : 1)} of its amplitude`,
    help: 'Channelised data cannot be shifted by whole samples. Delay the voltages where they exist, or use narrower channels.',
  }),
  'sky.outside-band': declare({
    severity: 'warning',
    data: {
      telescope: 'its name',
      frequencyHz: 'the middle of the data',
      lowHz: 'of the band of the telescope',
      highHz: 'of the band of the telescope',
    },
    text: ({
      telescope,
      frequencyHz,
      lowHz,
      highHz,
    }: {
      telescope: string;
      frequencyHz: number;
      lowHz: number;
      highHz: number;
    }) =>
      `${formatHz(frequencyHz)} is outside the band of ${telescope}, ${formatHz(lowHz)} to ${formatHz(highHz)}: with a wrong frequency or telescope every position on the sky is wrong`,
    help: 'The data are of a frequency that this telescope does not receive. Check the frequency (source.frequency) and the telescope.',
  }),
  'telescope.positions-unknown': declare({
    severity: 'warning',
    data: {},
    text: () =>
      'the positions of the stations are unknown: all are written at one place, and cannot be imaged',
    help: 'Name a telescope with telescope: NAME, a known one, or a file with the positions of its stations.',
  }),
} as const;
