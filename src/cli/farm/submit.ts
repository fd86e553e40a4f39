/** corella farm submit: an observation of a recording cut into jobs, on a queue or as files. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { openBackend } from '../../backend/select.js';
import type { Backend } from '../../backend/backend.js';
import { formatSeconds } from '../../core/units.js';
import { planFarm, type Submitted } from '../../farm/index.js';
import { checkOutputs } from '../../formats/index.js';
import {
  addFlags,
  checkObservation,
  directFlag,
  flagRules,
  readObservation,
  timesFlag,
  type FlagSettings,
  type Observation,
} from '../../observation/index.js';
import {
  productNames,
  type ImageFacts,
  type ProductName,
  type VisibilityFacts,
} from '../../products/index.js';
import { addCommonOptions, addExamples } from '../options/command.js';
import { addOverwriteOption, type OutputOptions } from '../options/outputs.js';
import { inWordsOf, notOfRecordings, observationOf } from '../options/shorthand.js';
import { roadLines } from '../report/road-lines.js';
import { openTerminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import { addFarmOptions, submit, type FarmOptions } from './jobs.js';

/** Fields that a farm of a recording has no use for. */
const notOfFarms = [...notOfRecordings, 'machine.threads', 'machine.cards'];

interface Shorthand {
  readonly name: string;
  readonly description: string;
  readonly product: ProductName;
  readonly out: string;
  readonly settings: FlagSettings;
  /** Filled in whatever is given. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly examples: readonly (readonly [string, string])[];
}

const shorthands: readonly Shorthand[] = [
  {
    ...{ name: 'correlate', description: 'correlate, spread over workers', product: 'visibilities' },
    out: 'visibilities.uvfits',
    settings: {
      parts: ['products.visibilities', 'source', 'observation', 'front', 'flags', 'machine'],
      renamed: { 'products.visibilities.visibilities': { otherwise: 'visibilities.uvfits' } },
      without: [...notOfFarms, 'products.visibilities.file-every'],
      also: [flagRules, timesFlag],
    },
    examples: [
      [
        'farm submit correlate /data/night.sigmf-meta --integration 10s -o night.uvh5 --server nats://head:4222',
        'onto the queue',
      ],
      [
        'farm submit correlate /data/night.sigmf-meta -o night.uvh5',
        'job files in night.uvh5.farm/jobs, no server',
      ],
      [
        'farm submit correlate /data/night.sigmf-meta -o night.uvh5 --server tls://head:4222 --tls-ca ca.pem --creds me.creds',
        'secured',
      ],
    ],
  },
  {
    ...{ name: 'channelise', description: 'channelise, spread over workers', product: 'spectra' },
    out: 'channels.sigmf-meta',
    settings: {
      parts: ['products.spectra', 'source', 'observation', 'front', 'flags', 'machine'],
      renamed: { 'products.spectra.spectra': { otherwise: 'channels.sigmf-meta' } },
      without: notOfFarms,
      also: [timesFlag],
    },
    examples: [
      [
        'farm submit channelise /data/night.sigmf-meta --channels 64 -o channels.sigmf-meta --server nats://head:4222',
        'onto the queue',
      ],
    ],
  },
  {
    ...{ name: 'image', description: 'image --direct --every, spread over workers', product: 'images' },
    out: 'series.fits',
    settings: {
      parts: ['products.images', 'source', 'observation', 'front', 'flags', 'gains', 'machine'],
      renamed: {
        'products.images.images': {
          help: 'the FITS cube to write; the animation goes beside it',
          otherwise: 'series.fits',
        },
      },
      without: [
        ...notOfFarms,
        ...['products.images.weights', 'products.images.cube', 'products.images.element'],
        ...['products.images.beam-corrected', 'products.images.picture'],
      ],
      also: [flagRules, timesFlag, directFlag],
    },
    fields: { method: 'direct' },
    examples: [
      [
        'farm submit image /data/night.sigmf-meta --direct --every 40ms -o night.fits --server nats://head:4222',
        'a series of images of all of it, by all workers',
      ],
    ],
  },
];

export function registerSubmit(farm: Command): void {
  const submitting = farm
    .command('submit')
    .description('cut the work on a recording into jobs, and put those that have no result on the queue');
  // Without a command's name, an observation is meant.
  const command = submitting
    .command('observation', { isDefault: true })
    .description('everything that an observation file asks for, spread over workers')
    .argument('<observation>', 'an observation of a recording (docs/observation.md)')
    .option('--backend <name>', 'workers must have this one (default: as the file says, else any)');
  addOverwriteOption(addCommonOptions(command));
  addExamples(addFarmOptions(command), [
    ['farm submit observation.yaml --server nats://head:4222', 'everything that the file asks for'],
  ]);
  command.action(
    async (path: string, options: FarmOptions & OutputOptions & { readonly backend?: string }) => {
      const { observation: read } = await readObservation(path);
      const observation = checkObservation({
        ...read,
        ...(options.backend !== undefined && { machine: { ...read.machine, backend: options.backend } }),
        ...(options.overwrite === true && { overwrite: true }),
      });
      await run(observation, options);
    },
  );
  for (const shorthand of shorthands) registerShorthand(submitting, shorthand);
}

function registerShorthand(submitting: Command, shorthand: Shorthand): void {
  const { name, description, product, out, settings, fields, examples } = shorthand;
  const command = submitting
    .command(name)
    .description(description)
    .argument('<recording>', 'voltages or channelised data in any format we read');
  const flags = addFlags(command, settings);
  addExamples(addFarmOptions(addCommonOptions(command)), examples);
  command.action(async (recording: string, options: FarmOptions) => {
    const asked = observationOf(flags, product, { recording, out });
    const observation = checkObservation({
      ...asked,
      products: asked.products.map((one) => ({ ...one, ...fields })),
    });
    await inWordsOf(flags.inFlags, () => run(observation, options));
  });
}

async function run(observation: Observation, options: FarmOptions): Promise<void> {
  const terminal = openTerminal(options);
  const [first] = observation.products;
  const key = productNames.find((name) => name in first) ?? 'visibilities';
  const folder = options.farm ?? `${String((first as Readonly<Record<string, unknown>>)[key])}.farm`;
  if (observation.front?.equaliser === 'measured') await mkdir(folder, { recursive: true });
  const { backend: choice = 'auto', threads } = observation.machine ?? {};
  let backend: Backend | undefined;
  try {
    const submitted = await planFarm(observation, {
      ...{ version: version(), backend: choice, jobS: options.jobTime, jobChannels: options.jobChannels },
      ...{ root: options.root, verify: options.verify, equaliserPath: join(folder, 'equaliser.json') },
      openBackend: async () =>
        (backend ??= await openBackend(choice, threads === undefined ? {} : { threads })),
    });
    const paths = submitted.planned.products.flatMap((product) => product.paths);
    const [from] = [observation.source.recording ?? []].flat();
    await checkOutputs({ paths, from, overwrite: observation.overwrite });
    await submit(submitted.plan, folder, options, terminal, notesOf(submitted));
  } finally {
    await backend?.close();
  }
}

function notesOf({ planned }: Submitted): string[] {
  return [
    ...(planned.observed.recording.assumed ?? []),
    ...planned.warnings,
    ...planned.products.flatMap(({ name, facts }) => {
      if (name === 'images') {
        const { predictedError } = facts() as ImageFacts;
        return predictedError === undefined ? [] : roadLines(predictedError);
      }
      if (name !== 'visibilities') return [];
      const { shortenedToS } = (facts() as VisibilityFacts).integration;
      return shortenedToS === undefined
        ? []
        : [`integrations of ${formatSeconds(shortenedToS)}, which keep 99 % of the amplitude`];
    }),
  ];
}
