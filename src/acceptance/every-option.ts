/**
 * Every option of the chain, alone and with every other one, for every product: a recording, ranges of it on a farm,
 * and packets give the same data, on every backend; or the table of unsupported combinations lists the refusal, and the
 * error is exactly that. Options come from the schema; one whose values cannot be enumerated needs a line in `named`.
 */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { z } from 'zod';
import type { Backend } from '../backend/backend.js';
import { openCpu } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { openReference } from '../backend/reference.js';
import { CorellaError } from '../core/errors.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { createLedger, doJob, encodeResult, jobsOf, mergeProducts, planFarm } from '../farm/index.js';
import { alternatives, fieldsOf } from '../fields/index.js';
import { runLive } from '../live/index.js';
import {
  checkObservation,
  flags,
  front,
  gains,
  refusalOf,
  runObservation,
  type Observation,
} from '../observation/index.js';
import { compareFiles, type Comparison } from '../inspect/index.js';
import { images, productFields, productName, visibilities } from '../products/index.js';
import { corellaHere } from './corella.js';

/** Packets of voltages begin a block at this time. */
const START = '2026-06-21T04:00:40Z';
const VERSION = '0.1.0';
const at = (ms: number): string => new Date(Date.parse(START) + ms).toISOString();

type Kind = 'voltages' | 'spectra';
type Plain = Readonly<Record<string, unknown>>;

/** Product fields that change the data; the others only choose position and cadence. */
const OF_PRODUCTS = ['van-vleck', 'values'];
/** Any gains suffice: 4 stations and 2.5 ms of noise hide the sky. */
const ANY_GAINS = { 'accept-model': true, tolerance: 10, iterations: 4, odd: 0 } as const;

/** All options, by name. */
const fields = [
  ...fieldsOf(front, ['front']),
  ...fieldsOf(flags, ['flags']).filter(({ about }) => about.of === undefined),
  ...fieldsOf(gains, ['gains']).filter(({ path }) => path.at(-1) === 'file'),
  ...[
    fieldsOf(visibilities, ['visibilities']),
    fieldsOf(images, ['images']),
    fieldsOf(productFields.gains, ['products.gains']),
  ]
    .flat()
    .filter(({ path }) => OF_PRODUCTS.includes(path[1])),
];

/** The number of channels of an observation, for files of gains and coefficients. */
const channelsOf = (kind: Kind, { front: part = {} }: { readonly front?: Plain }): number =>
  kind === 'voltages' ? Number(part.channels ?? CHANNELS) : CHANNELS * Number(part.finer ?? 1);

type Value = (kind: Kind, observation: { readonly front?: Plain }) => unknown;
const always =
  (value: unknown): Value =>
  () =>
    value;

/** Values of fields that are no list of words: the first is tried with every other field. */
const named: Readonly<Record<string, readonly Value[]>> = {
  'front.channels': [always(4)],
  'front.taps': [always(4), always(1)],
  'front.window': [always('kaiser:9'), always('rectangular')],
  'front.passband': [always(1.2)],
  'front.coefficients': [
    (_, { front: part = {} }) =>
      `coefficients-${Number(part.taps ?? 8) * Number(part.finer ?? part.channels ?? CHANNELS)}.txt`,
  ],
  'front.gain': [always(0.7113)],
  'front.finer': [always(4)],
  'front.equaliser': [(kind, of) => `levels-${channelsOf(kind, of)}.json`, always('measured')],
  'front.equaliser-out': [always('levels-out.json')],
  'front.delays.track': [always('CygA'), always('pieces.json')],
  'front.delays.fixed': [always('cables.json')],
  'flags.inputs': [always([3])],
  'flags.channels': [always([2])],
  'flags.times': [always([`${at(25)}..${at(45)}`])],
  'flags.baselines': [always(['stand1&stand65'])],
  'flags.sky': [always(['CasA@2deg'])],
  'flags.file': [always('flags.json')],
  'flags.kurtosis': [always(true), always(2.5)],
  'flags.kurtosis-spectra': [always(32)],
  'gains.file': [(kind, of) => `gains-${channelsOf(kind, of)}.json`],
};
/** Fields with more than one value in pairs. */
const inPairs: Readonly<Record<string, number>> = { 'front.bits': 2, 'front.equaliser': 2 };
const CHANNELS = 8;

/** All values of a field: from its type, or from the table above. */
function valuesOf({ path, schema }: (typeof fields)[number]): readonly Value[] {
  const name = path.join('.');
  const forms = alternatives(schema);
  const words = forms.flatMap((form) =>
    form instanceof z.ZodEnum || form instanceof z.ZodLiteral
      ? [...new Set(Object.values(wordsOf(form)))]
      : [],
  );
  if (forms.every((form) => form instanceof z.ZodEnum || form instanceof z.ZodLiteral))
    return words.reverse().map(always);
  if (forms.every((form) => form instanceof z.ZodBoolean)) return [always(true)];
  return named[name] ?? assert.fail(`${name} is new: name values for it in ${import.meta.url}`);
}
const wordsOf = (form: z.ZodEnum | z.ZodLiteral): readonly unknown[] =>
  form instanceof z.ZodEnum ? form.options : [...form.values];

/** A field with a value. */
interface Choice {
  readonly path: readonly string[];
  readonly value: Value;
  readonly isForPairs: boolean;
}

const choices: readonly Choice[] = fields.flatMap((field) =>
  valuesOf(field).map((value, n) => ({
    path: field.path,
    value,
    isForPairs: n < (inPairs[field.path.join('.')] ?? 1),
  })),
);

function* sets(): Generator<readonly Choice[]> {
  yield [];
  for (const one of choices) yield [one];
  const paired = choices.filter(({ isForPairs }) => isForPairs);
  for (const [k, one] of paired.entries())
    for (const other of paired.slice(k + 1))
      if (one.path.join('.') !== other.path.join('.')) yield [one, other];
}

const image = { every: '20ms', align: 'utc', pixels: 16, field: 20, kernel: 3, picture: false } as const;
const products = {
  visibilities: { visibilities: 'made.uvfits', integration: '40ms', align: 'utc', 'phase-centre': 'CygA' },
  images: { images: 'made.fits', ...image },
  direct: { images: 'direct.fits', ...image, method: 'direct' },
  spectra: { spectra: 'made.sigmf-meta' },
  gains: { gains: 'made.json', every: '40ms', integration: '20ms', align: 'utc', ...ANY_GAINS },
} as const;
type Name = keyof typeof products;
const productNames: readonly Name[] = ['spectra', 'visibilities', 'images', 'direct', 'gains'];

const put = (into: Plain, [key, ...rest]: readonly string[], value: unknown): Plain => ({
  ...into,
  [key]: rest.length === 0 ? value : put((into[key] ?? {}) as Plain, rest, value),
});

/** An observation without a source. */
function asked(kind: Kind, set: readonly Choice[], wanted: readonly Name[]): Plain {
  let of: Plain = kind === 'voltages' ? { front: { channels: CHANNELS } } : {};
  let own: Plain = {};
  // Files are made for the channels chosen by the other fields.
  for (const { path, value } of [...set].sort((a, b) => value0(a) - value0(b))) {
    const made = value(kind, of);
    if (['visibilities', 'images', 'products.gains'].includes(path[0])) own = put(own, path, made);
    else of = put(of, path, made);
  }
  const part = (of.front ?? {}) as Plain;
  // No simple fraction: values half way, which backends may round either way, are then rare. For a recording the gain
  // would be derived from its first samples, which packets do not provide in advance.
  const isRounded = kind === 'voltages' || part.finer !== undefined;
  if (isRounded && part.gain === undefined && part.equaliser === undefined && part.bits !== 'float')
    of = put(of, ['front', 'gain'], part.bits !== 4 ? 0.8317 : part.finer === undefined ? 0.0917 : 0.4917);
  return {
    corella: 1,
    telescope: 'lwasv',
    stations: 4,
    ...of,
    overwrite: true,
    page: { address: false },
    products: wanted.map((name) => ({
      ...products[name],
      ...(ownOf(own, name) as Plain | undefined),
      // Sums are written only as UVH5, which takes longer to read.
      ...((own.visibilities as Plain | undefined)?.values === 'sums' &&
        name === 'visibilities' && { visibilities: 'made.uvh5' }),
    })),
  };
}
/** Fields of a product, which may be shared with others. */
const ownOf = (own: Plain, name: Name): unknown =>
  own[name === 'direct' ? 'images' : name === 'gains' ? 'products.gains' : name];
const value0 = ({ path }: Choice): number => (/coefficients|equaliser|gains/.test(path.join('.')) ? 1 : 0);

const describeSet = (set: readonly Choice[]): string =>
  set.length === 0
    ? 'no option'
    : set
        .map(({ path, value }) => `${path.join('.')}: ${JSON.stringify(value('voltages', {}))}`)
        .join(' with ');

interface Place {
  readonly folder: string;
  readonly kind: Kind;
  readonly backend: Backend;
}

const inFolder = (folder: string, observation: Plain): Observation => {
  const checked = checkObservation(observation);
  const absolute = (name: string | undefined): string | undefined =>
    name === undefined || !/\.(?:json|txt)$/.test(name) ? name : join(folder, name);
  const { front: part, flags: flagged, gains: given } = checked;
  return {
    ...checked,
    ...(part && {
      front: {
        ...part,
        ...(part.coefficients !== undefined && { coefficients: absolute(part.coefficients) }),
        ...(part.equaliser !== undefined && { equaliser: absolute(part.equaliser) }),
        ...(part.delays && {
          delays: {
            ...(part.delays.track !== undefined && { track: absolute(part.delays.track) }),
            ...(part.delays.fixed !== undefined && { fixed: absolute(part.delays.fixed) }),
          },
        }),
      },
    }),
    ...(flagged?.file !== undefined && { flags: { ...flagged, file: absolute(flagged.file) } }),
    ...(given?.file !== undefined && { gains: { ...given, file: absolute(given.file) } }),
  };
};

const recorded = ({ folder, kind, backend }: Place, observation: Plain): Observation =>
  inFolder(folder, {
    ...observation,
    source: { recording: join(folder, `${kind}-arrived.sigmf-meta`) },
    machine: { backend: backend.kind },
    page: undefined,
  });

/** 16 × a prime number: the largest frame that divides a second has 16 samples. */
const RATE_HZ = { voltages: 17_744, spectra: 20_000 } as const;
/** For voltages, two whole blocks of packets. */
const DURATION = { voltages: '79.3508ms', spectra: '80ms' } as const;
const known = {
  voltages: { format: 'vdif', rate: RATE_HZ.voltages, frequency: '58MHz' },
  spectra: { format: 'snap2', rate: '2500Hz' },
};

/** The sources of the same data, and how each is run. */
const sources = {
  recording: async (place: Place, observation: Plain, into: string) => {
    const { products: made } = await runObservation(recorded(place, observation), { version: VERSION, into });
    for (const { failure } of made) if (failure) throw failure;
  },
  range: async (place: Place, observation: Plain, into: string) => {
    const { backend, folder } = place;
    const whole = recorded(place, observation);
    const levels = whole.front?.['equaliser-out'];
    const named = {
      ...whole,
      ...(levels !== undefined && { front: { ...whole.front, 'equaliser-out': join(into, levels) } }),
      products: whole.products.map((one) => renamed(one, into)),
    } as Observation;
    const { plan } = await planFarm(named, {
      version: VERSION,
      backend: backend.kind,
      jobS: 0.035,
      openBackend: () => Promise.resolve(backend),
      equaliserPath: join(into, 'levels.json'),
    });
    const ledger = await createLedger(join(into, 'farm'), plan);
    const jobs = jobsOf(plan);
    assert.ok(jobs.length > 1, 'the work is cut');
    for (const job of jobs) {
      const result = await doJob(job, { name: 'w', version: VERSION, backend, roots: [folder] });
      assert.equal(await ledger.take(encodeResult(result)), 'merged');
    }
    await mergeProducts(ledger, { version: VERSION, backend, overwrite: true });
  },
  capture: async ({ folder, kind, backend }: Place, observation: Plain, into: string) => {
    const observed = inFolder(folder, {
      ...observation,
      source: { capture: join(folder, `${kind}.pcap`), ...known[kind] },
      machine: { backend: backend.kind },
    });
    const { failures } = await runLive(observed, {
      version: VERSION,
      into,
      say: () => undefined,
      onEvent: () => undefined,
      onFile: () => undefined,
    });
    assert.deepEqual(failures, []);
  },
} as const;
type Source = keyof typeof sources;

const renamed = (product: Observation['products'][number], into: string): object =>
  Object.fromEntries(
    Object.entries(product).map(([key, value]) => [
      key,
      key === productName(product) ? join(into, String(value)) : value,
    ]),
  );

/** Tolerances, by DESIGN: whole numbers bit for bit; floats within 1e-6 of the largest, images 1e-5 of the peak. */
function toleranceOf(name: Name, { front: part = {} }: { readonly front?: Plain }): number {
  if (name === 'images' || name === 'direct') return 1e-5;
  // The solver of some backends has float32, and follows visibilities that have it.
  if (name === 'gains') return 1e-4;
  return part.bits === 'float' || part.delays !== undefined ? 1e-6 : 0;
}

const fileOf = (name: Name, { products: all }: Plain): string =>
  (all as readonly Plain[])
    .map((one) => one.visibilities ?? one.images ?? one.spectra ?? one.gains)
    .find(
      (path) =>
        path === Object.values(products[name])[0] || (name === 'visibilities' && path === 'made.uvh5'),
    ) as string;

/** Equaliser gains measured by a backend have its own rounding, which moves some samples by a level. */
interface Asked extends Plain {
  readonly front?: Plain & { readonly delays?: Plain };
}

const isMeasured = ({ front: part = {} }: { readonly front?: Plain }): boolean =>
  part.equaliser === 'measured';

/** Backends agree before spectra are rounded, and a value nearly half way may go to either level (docs/machines.md). */
const isRoundedElse = (differences: Comparison['differences']): boolean =>
  differences.every(
    ({ what, largest = Infinity, count, of }) => what === 'values' && largest <= 1 && count <= 1e-3 * of,
  );
/** Relative to the largest value, if some samples have the next level. */
const ROUNDED_ELSE = 1e-3;

const messageOf = ({ field, why, fix }: { field: string; why: string; fix: string }): string =>
  new CorellaError({ where: field, what: why, fix }).message;

const native = loadNative();

export function everyOption(kind: Kind): void {
  const folder = temporaryFolder(`every-option-${kind}`);
  const backends: Backend[] = [openReference()];
  before(async () => {
    if (!('what' in native)) backends.push(await openCpu({ threads: 1 }));
    await makeSources(folder, kind);
  });

  describe(`of ${kind}, the data of a recording, of ranges and of packets are the same, or refused by the table`, () => {
    for (const [number, set] of [...sets()].entries())
      it(describeSet(set), async () => {
        assert.deepEqual(await trial(folder, kind, backends, set, number), []);
      });
  });
}

/**
 * Pairs are run on the backends in turn, with the recording and with ranges or packets in turn; with
 * CORELLA_EVERY_PAIR=1 on every backend with every source, which takes four times as long.
 */
const isTurnOf = (
  number: number,
  { n, of, source }: { readonly n: number; readonly of: number; readonly source: Source },
): boolean =>
  process.env.CORELLA_EVERY_PAIR === '1' ||
  (number % of === n &&
    (source === 'recording' || (source === 'range') === (Math.floor(number / of) % 2 === 0)));

async function trial(
  folder: string,
  kind: Kind,
  backends: readonly Backend[],
  set: readonly Choice[],
  number: number,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const report = (source: Source, { kind: backend }: Backend, what: string): void => {
    wrong.push(`${source}, ${backend}: ${what}`);
  };
  const made = new Map<string, readonly Name[]>();
  for (const [n, backend] of backends.entries())
    for (const source of Object.keys(sources) as readonly Source[]) {
      if (set.length === 2 && !isTurnOf(number, { n, of: backends.length, source })) continue;
      const place = { folder, kind, backend };
      const run = sources[source];
      const about = { isLive: source === 'capture', kind };
      const allowed: Name[] = [];
      for (const name of productNames) {
        const observation = asked(kind, set, [name]);
        const listed = refusalOf(
          inFolder(folder, { ...observation, source: { recording: 'x' }, page: undefined }),
          about,
        );
        if (!listed) allowed.push(name);
        // A refusal does not depend on the backend.
        else if (backend === backends[0] || set.length === 2) {
          const error = await run(place, observation, join(folder, 'refused')).then(
            () => undefined,
            (thrown: unknown) => (thrown as Error).message,
          );
          if (error !== messageOf(listed))
            report(
              source,
              backend,
              `${name}: the table lists "${messageOf(listed)}", not ${JSON.stringify(error)}`,
            );
        }
      }
      const into = join(folder, `${source}-${backend.kind}`);
      await rm(into, { recursive: true, force: true });
      await mkdir(into);
      if (allowed.length === 0) continue;
      const observation = asked(kind, set, allowed) as Asked;
      try {
        await run(place, observation, into);
        made.set(into, allowed);
      } catch (error) {
        report(source, backend, `not in the table: ${(error as Error).message}`);
        continue;
      }
      const by =
        source === 'recording' && made.has(join(folder, `recording-${backends[0].kind}`))
          ? backends[0]
          : backend;
      const other = join(folder, `recording-${by.kind}`);
      if (other === into || (isMeasured(observation) && by !== backend)) continue;
      // Tracked spectra are not written: some of their samples may have the next level too.
      let rounded = by !== backend && observation.front?.delays?.track !== undefined ? 1e-2 : 0;
      for (const name of productNames) {
        if (!allowed.includes(name) || made.get(other)?.includes(name) !== true) continue;
        const [a, b] = [other, into].map((one) => join(one, fileOf(name, observation)));
        const tolerance = Math.max(rounded, toleranceOf(name, observation));
        const { differences } = await compareFiles(a, b, { tolerance });
        if (by !== backend && name === 'spectra' && isRoundedElse(differences)) rounded = ROUNDED_ELSE;
        else if (differences.length > 0)
          report(
            source,
            backend,
            `${name} differs from recording-${by.kind}: ${JSON.stringify(differences.slice(0, 2))}`,
          );
      }
    }
  return wrong;
}

/** A recording, packets of the same data with losses, and the files named by options. */
async function makeSources(folder: string, kind: Kind): Promise<void> {
  const ran = async (...words: readonly string[]): Promise<void> => {
    const { code, stdout, stderr } = await corellaHere(folder, ...words);
    assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}${stdout}`);
  };
  const sky = [
    'simulate',
    '--stations',
    '4',
    '--rate',
    String(RATE_HZ[kind]),
    '--duration',
    DURATION[kind],
    '--time',
    START,
  ];
  await ran(...sky, '-o', 'sky');
  const truth = kind === 'voltages' ? ['--truth', 'voltages-arrived'] : [];
  const lossy = ['--lose', '2%', '--seed', '5', '--to', `${kind}.pcap`, ...truth];
  if (kind === 'spectra')
    await ran('channelise', 'sky.sigmf-meta', '--channels', String(CHANNELS), '--bits', '4', '-o', 'nibbles');
  const [from, format] = kind === 'voltages' ? ['sky', 'vdif'] : ['nibbles', 'snap2'];
  await ran('send', `${from}.sigmf-meta`, '--format', format, ...lossy);
  // Packets of spectra begin and end with blocks of their senders' clock: the recording is what arrived, block by
  // block.
  if (kind === 'spectra') {
    const source = { capture: 'spectra.pcap', ...known.spectra };
    const recording = {
      corella: 1,
      telescope: 'lwasv',
      stations: 4,
      source,
      products: [{ spectra: 'spectra-arrived.sigmf-meta' }],
    };
    await writeFile(join(folder, 'record.json'), JSON.stringify(recording));
    await ran('run', 'record.json', '--backend', 'reference');
  }
  for (const channels of kind === 'voltages' ? [4, 8] : [8, 32]) {
    const count = `${channels}`;
    const finer = ['nibbles.sigmf-meta', ...(channels === 32 ? ['--fine-channels', '4'] : [])];
    const how = kind === 'voltages' ? ['sky.sigmf-meta', '--channels', count] : finer;
    await ran('channelise', 'sky.sigmf-meta', '--channels', count, '--equaliser', 'measured', '--equaliser-out', `levels-${count}.json`, '-o', 'levelled', '--overwrite'); // prettier-ignore
    await ran('correlate', ...how, '--integration', '50ms', '-o', 'sky.uvh5', '--overwrite'); // prettier-ignore
    await ran('calibrate', 'sky.uvh5', '--every', '50ms', '--accept-model', '--tolerance', '0.01', '-o', `gains-${count}.json`); // prettier-ignore
  }
  const json = (name: string, value: object): Promise<void> =>
    writeFile(join(folder, name), JSON.stringify(value));
  for (const count of [4, 8, 16, 32, 64]) {
    const taps = Array.from({ length: count }, (_, n) => Math.sin((Math.PI * (n + 0.5)) / count) ** 2);
    await writeFile(join(folder, `coefficients-${count}.txt`), taps.join('\n'));
  }
  // In channelised data delays are corrected only by phases: longer ones are refused.
  const scale = kind === 'voltages' ? 1 : 0.01;
  await json('cables.json', {
    fixed: [
      { input: 1, delayS: scale * 0.00031 },
      { input: 4, delayS: scale * -0.00007 },
    ],
  });
  await json('flags.json', { flags: [{ channels: '1', times: `${at(30)}..${at(60)}` }] });
  await json('pieces.json', {
    pieces: [
      {
        from: START,
        inputs: [{ input: 1, delayS: 1e-5, delayRate: 1e-11, phaseRad: 0.3, phaseRateRadS: 7 }],
      },
    ],
  });
}
