/** corella farm submit image: a series of images directly from a recording, cut in time. */
import { Option, type Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { cutCorrelation, makePlan, type Product, type Work as FarmWork } from '../../farm/index.js';
import { openFile } from '../../formats/index.js';
import { checkDirectRoad } from '../../pipeline/image.js';
import { imageClock, imageMiddles } from '../../pipeline/image-part.js';
import { spectraOf, stretchesOf } from '../../pipeline/parts.js';
import { pixelsOf, withCentre, type Calibrated } from '../../pipeline/sky-image.js';
import { planMoments } from '../../pipeline/stages/planned-imager.js';
import { skyFrame } from '../../sky/frame.js';
import { refuseUnplaced } from '../../telescope/unplaced.js';
import { fieldOf, parseKernel } from '../image.js';
import { applicable, autosOf, channelsFor, type ImageOptions } from '../image-direct.js';
import { gainsOver, imageUnit, parseKnown } from '../image-gains.js';
import { seriesPaths } from '../image-series.js';
import { refuseUnknown, telescopeFor } from '../open.js';
import { addChannelOptions, channelOptionNames } from '../options/channel-options.js';
import { addBackendOptions, addExamples, parseCount, refuseGiven } from '../options/command.js';
import { addEopOption } from '../options/eop-option.js';
import { addOpenOptions, openOptions } from '../options/open-options.js';
import { addOverwriteOption, checkOutputs, parseOutput } from '../options/outputs.js';
import { angle, duration } from '../options/quantity.js';
import { addSourceOption } from '../options/sky-options.js';
import { history } from '../report/history.js';
import { roadLines } from '../report/road-lines.js';
import { openTerminal } from '../report/terminal.js';
import { version } from '../report/version.js';
import { addFarmOptions, eopOf, spectraPerJob, submit, workOf, type FarmOptions } from './jobs.js';

export function registerSubmitImage(submitting: Command): void {
  const command = submitting
    .command('image')
    .description('image --direct --every, spread over workers')
    .argument('<recording>', 'voltages or channelised data in any format we read')
    .option('-o, --out <path>', 'the FITS cube to write; the film goes beside it', parseOutput, 'series.fits')
    .requiredOption('--every <time>', 'an image of every so long, like 40ms or 10s', duration('--every'))
    .addOption(new Option('--direct').hideHelp())
    .option('--gains <path>', 'calibrate with these, from corella calibrate (default: none)')
    .option('--cross-hand <known>', "known: those gains' X and Y share one phase", parseKnown)
    .option('--pixels <number>', 'along each side (default: what the array needs)', parseCount)
    .option(
      '--field <angle>',
      'width of the field, in degrees or with a unit (default: the whole sky)',
      angle('--field'),
    )
    .option('--kernel <size>', 'cells along a side of the gridding kernels: 1, 3, 5 or 7', parseKernel, 5)
    .option('--no-autos', 'take autocorrelations out')
    .option('--sheet', 'also a sheet, the images side by side')
    .action(run);
  addSourceOption(command, 'names to write on the pictures');
  addOverwriteOption(command);
  addChannelOptions(command);
  addOpenOptions(command, 'recordings');
  addBackendOptions(command);
  addEopOption(command);
  addExamples(addFarmOptions(command), [
    [
      'farm submit image /data/night.sigmf-meta --direct --every 40ms -o night.fits --server nats://head:4222',
      'a film of the night, by all workers',
    ],
  ]);
}

async function run(path: string, options: ImageOptions & FarmOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  const { out = 'series.fits', every: everyS = 1 } = options;
  if (!/\.fits?$/i.test(out))
    refuse('--out', `'${out}' does not end in .fits`, 'the film takes the same name beside it');
  if (options.jobChannels !== undefined)
    refuse('--job-channels', 'is for correlate: an image is of all channels', 'leave it out');
  const open = await openOptions(options);
  const recording = await openFile(path, open);
  try {
    await checkOutputs({
      ...options,
      paths: Object.values(seriesPaths(out, options.sheet)) as string[],
      from: path,
    });
    if (recording.kind === 'visibilities')
      refuse(path, 'holds visibilities already', 'corella image --every makes a series of them');
    if (recording.kind === 'spectra')
      refuseGiven(command, channelOptionNames, `is for voltages, and ${path} is channelised already`);
    refuseUnknown(recording);
    const telescope = await telescopeFor(recording, options);
    refuseUnplaced(path, telescope, 'there is no image of the sky in them');
    const made = await channelsFor(recording, telescope, options);
    if (made.delays)
      refuse(
        'farm',
        'images with delays are not spread over machines',
        'corella image --direct --every has them',
      );
    const { plan, frequenciesHz, channelWidthHz, spectrumRateHz, overUsual } = made;
    const settings = withCentre(telescope, frequenciesHz, {
      ...(options.pixels === undefined ? {} : { pixels: options.pixels }),
      field: fieldOf(options.field),
      kernelSize: options.kernel,
    });
    const { calibrated } = applicable(options, await gainsOver(options, telescope, frequenciesHz));
    if (typeof calibrated === 'function')
      refuse(
        '--gains',
        'of several times are not spread over machines',
        'corella image --direct --every has them',
      );
    const frame = skyFrame(telescope.site, recording.start);
    const roadError = checkDirectRoad({ telescope, frequenciesHz }, frame, settings);
    const clock = imageClock(everyS, recording, plan);
    const stretches = stretchesOf(clock, 0, spectraOf(recording, plan));
    const frames = imageMiddles(stretches, everyS, recording, plan).map((at) => skyFrame(telescope.site, at));
    const pixelsAt = (one: typeof frame): number => pixelsOf(telescope, one, frequenciesHz, settings);
    const channels = frequenciesHz.length;
    const cut = cutCorrelation({
      ...{ channels, integrations: stretches, sums: 'floats', channelsPerJob: channels },
      spectraPerJob: spectraPerJob(recording, spectrumRateHz, options),
      bytesPerChannel: (8 * pixelsAt(frame) ** 2) / channels,
    });
    const moments = planMoments(frames, pixelsAt, settings.normalEnu);
    const image: AskedImage = {
      ...{ everyS, kernelSize: options.kernel, autos: autosOf(options) },
      telescope: telescope as AskedImage['telescope'],
      ...(options.pixels === undefined ? {} : { pixels: options.pixels }),
      ...(options.field === undefined ? {} : { fieldDeg: options.field }),
      ...(overUsual !== 1 && { overUsual }),
      ...(calibrated && { gains: sentGains(calibrated) }),
    };
    const product: Product = {
      ...{ kind: 'series', out, frequenciesHz: Array.from(frequenciesHz), channelWidthHz },
      ...{ unit: imageUnit(recording, options), sources: options.sources },
      history: history({ from: recording, telescope }),
      ...(options.sheet && { sheet: true as const }),
      ...eopOf(options),
    };
    const work = {
      ...(await workOf('image', path, recording, {
        ...{ open, options, settings: made.settings, flags: new Uint8Array(0) },
        integration: { align: 'first-sample' },
      })),
      image,
    };
    const momentOf = new Map(stretches.map(({ first }, n) => [first, moments[n]]));
    const plannedFor = cut.spectra.slice(0, -1).map((first) => momentOf.get(first) ?? recording.start);
    await submit(
      makePlan(version(), { work, cut: { ...cut, plannedFor }, product }),
      { ...options, out },
      terminal,
      [...(recording.assumed ?? []), ...roadLines(roadError)],
    );
  } finally {
    await recording.close();
  }
}

type AskedImage = NonNullable<FarmWork['image']>;

const base64 = (view: ArrayBufferView): string =>
  Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64');

const sentGains = ({ gains, solved }: Calibrated): NonNullable<AskedImage['gains']> => ({
  gains: base64(gains),
  solved: base64(solved),
});
