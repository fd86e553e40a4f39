/** corella farm submit: divides the observation of a recording into jobs, on a queue or as files. */
import type { Command } from 'commander';
import {
  addFlags,
  checkObservation,
  crossHandFlag,
  directFlag,
  flagRules,
  readObservation,
  timesFlag,
  type FlagSettings,
} from '../../observation/index.js';
import type { ProductName } from '../../products/index.js';
import { namedAfter } from '../options/outputs.js';
import { notOfRecordings, observationOf } from '../options/shorthand.js';
import { addHelp, type Example } from '../startup/help.js';
import { farmFields, type FarmOptions } from './jobs.js';
import { z } from 'zod';
import { variant } from '../../fields/index.js';
import { addFields, type Options } from '../options/own.js';
import { backend, common, overwrite } from '../options/shared.js';

/** Fields that do not apply to a farm of a recording. */
const notOfFarms = [...notOfRecordings, 'machine.threads', 'machine.cards'];

interface Shorthand {
  readonly name: string;
  readonly description: string;
  readonly product: ProductName;
  /** Of the default output. */
  readonly ending: string;
  readonly settings: FlagSettings;
  /** Added to the given fields. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Options of the short help. */
  readonly commonFlags: readonly string[];
  readonly examples: readonly Example[];
}

/** Of the short help. */
const ofFarm = ['--server', '--root', '--farm', '--job-time', '--backend', '--overwrite'];

const shorthands: readonly Shorthand[] = [
  {
    commonFlags: ['--integration', '--channels', '--telescope', '--flag'],
    name: 'correlate',
    description: 'Correlates a recording, spread over workers.',
    product: 'visibilities',
    ending: '.uvfits',
    settings: {
      parts: ['products.visibilities', 'source', 'observation', 'front', 'flags', 'machine'],
      renamed: { 'products.visibilities.visibilities': { otherwise: 'RECORDING.uvfits' } },
      without: [...notOfFarms, 'products.visibilities.file-every'],
      also: [flagRules, timesFlag],
    },
    examples: [
      [
        'farm submit correlate /data/run.sigmf-meta --integration 10s -o run.uvh5 --server nats://head:4222',
        'onto the queue',
      ],
      [
        'farm submit correlate /data/run.sigmf-meta -o run.uvh5',
        'job files in run.uvh5.farm/jobs, no server',
      ],
      [
        'farm submit correlate /data/run.sigmf-meta -o run.uvh5 --server tls://head:4222 --tls-ca ca.pem --creds me.creds',
        'secured',
      ],
    ],
  },
  {
    commonFlags: ['--channels', '--taps', '--bits'],
    name: 'channelise',
    description: 'Channelises a recording, spread over workers.',
    product: 'spectra',
    ending: '-channels.sigmf-meta',
    settings: {
      parts: ['products.spectra', 'source', 'observation', 'front', 'flags', 'machine'],
      renamed: { 'products.spectra.spectra': { otherwise: 'RECORDING-channels.sigmf-meta' } },
      without: notOfFarms,
      also: [timesFlag],
    },
    examples: [
      [
        'farm submit channelise /data/run.sigmf-meta --channels 64 -o channels.sigmf-meta --server nats://head:4222',
        'onto the queue',
      ],
      [
        'farm submit channelise /data/run.sigmf-meta --channels 64',
        'job files in run-channels.sigmf-meta.farm/jobs',
      ],
      [
        'farm submit channelise /data/run.sigmf-meta --bits 4 --equaliser measured --server nats://head:4222',
        'four bits, a gain for each input and channel',
      ],
    ],
  },
  {
    commonFlags: ['--gains', '--every', '--field', '--channels', '--flag'],
    name: 'image',
    description: 'Images a recording directly, one image after the other, spread over workers.',
    product: 'images',
    ending: '-series.fits',
    settings: {
      parts: ['products.images', 'source', 'observation', 'front', 'flags', 'gains', 'machine'],
      renamed: {
        'products.images.images': {
          otherwise: 'RECORDING-series.fits',
        },
      },
      without: [
        ...notOfFarms,
        'products.images.weights',
        'products.images.cube',
        'products.images.element',
        'products.images.beam-corrected',
        'products.images.picture',
      ],
      also: [flagRules, timesFlag, directFlag, crossHandFlag],
    },
    fields: { method: 'direct' },
    examples: [
      [
        'farm submit image /data/run.sigmf-meta --direct --every 40ms -o run.fits --server nats://head:4222',
        'a series of images of all of it, by all workers',
      ],
      ['farm submit image /data/run.sigmf-meta --every 1s -o run.fits', 'job files in run.fits.farm/jobs'],
      [
        'farm submit image /data/run.sigmf-meta --every 1s --gains gains.json --server nats://head:4222',
        'calibrated',
      ],
    ],
  },
];

const submitOptions = z.strictObject({
  backend: variant(backend, { default: undefined, otherwise: 'as the file says, else any' }),
  overwrite,
  ...common,
});

export function registerSubmit(farm: Command): void {
  const submitting = farm
    .command('submit')
    .description(
      'Splits the work on a recording into jobs, and puts those without a result on a queue or into files.',
    );
  // Without a command name, an observation file is meant.
  const command = submitting
    .command('observation', { isDefault: true })
    .description('Makes everything that an observation file asks for, spread over workers.')
    .argument('<observation>', 'an observation of a recording (docs/observation.md)');
  addFields(addFields(command, submitOptions), farmFields);
  addHelp(command, {
    common: ['--server', '--root', '--farm', '--job-time', '--verify', '--backend', '--overwrite'],
    examples: [
      ['farm submit observation.yaml --server nats://head:4222', 'everything that the file asks for'],
      ['farm submit observation.yaml', 'job files, no server: for Slurm and the like'],
      [
        'farm submit observation.yaml --server nats://head:4222 --verify 1/10',
        'one job in ten is done twice',
      ],
    ],
  });
  command.action(async (path: string, options: FarmOptions & Partial<Options<typeof submitOptions>>) => {
    const { observation: read } = await readObservation(path);
    const observation = checkObservation({
      ...read,
      ...(options.backend !== undefined && { machine: { ...read.machine, backend: options.backend } }),
      ...(options.overwrite && { overwrite: true }),
    });
    const { run } = await import('../actions/farm-submit.js');
    await run(observation, options);
  });
  for (const shorthand of shorthands) registerShorthand(submitting, shorthand);
  addHelp(submitting, {
    examples: [
      ['farm submit observation.yaml --server nats://head:4222', 'everything that the file asks for'],
      ['farm submit correlate /data/run.sigmf-meta -o run.uvh5 --server nats://head:4222', 'visibilities'],
      [
        'farm submit correlate /data/run.sigmf-meta -o run.uvh5',
        'job files, no server: for Slurm and the like',
      ],
    ],
  });
}

function registerShorthand(submitting: Command, shorthand: Shorthand): void {
  const { name, description, product, ending, settings, fields, commonFlags, examples } = shorthand;
  const command = submitting
    .command(name)
    .description(description)
    .argument('<recording>', 'voltages or channelised data in any format we read');
  const flags = addFlags(command, settings);
  addFields(addFields(command, z.strictObject(common)), farmFields);
  addHelp(command, { common: ['--out', ...commonFlags, ...ofFarm], examples });
  command.action(async (recording: string, options: FarmOptions) => {
    const asked = observationOf(flags, product, { recording, out: namedAfter(recording, ending) });
    const observation = checkObservation({
      ...asked,
      products: asked.products.map((one) => ({ ...one, ...fields })),
    });
    const { run } = await import('../actions/farm-submit.js');
    await run(observation, options);
  });
}
