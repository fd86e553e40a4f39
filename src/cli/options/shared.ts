/** Options shared by several commands beside the fields of an observation, each declared once. */
import { z } from 'zod';
import type { VoltageType } from '../../core/axes.js';
import {
  aboutField,
  variant,
  field,
  inputPath,
  outputPath,
  real,
  timeS,
  utc,
  whole,
  withForm,
  words,
} from '../../fields/index.js';
import { machine, observation, OUT_HELP, pageFields, source } from '../../observation/flags.js';
import { images } from '../../products/index.js';

const changes = 'never';
const running = 'Running';

/** An option without a value. */
export const given = withForm(z.literal(true), { words: 'nothing' });
/** A list of words, by repeating the option. */
export const repeated = (what: string) => z.array(words(what));

export const json = field(given, {
  flag: '--json',
  group: running,
  changes,
  help: 'print one JSON document on standard output, nothing else',
});
export const quiet = field(given, {
  flag: '--quiet',
  group: running,
  changes,
  help: 'no progress, only the result',
});
export const plan = field(given, {
  flag: '--plan',
  group: running,
  changes,
  help: 'print the observation for corella run; opens nothing',
});
export const common = { json, quiet };
export const { backend, threads } = machine.shape;
export const computing = { ...common, backend, threads };
export const { eop, orbits, telescope, stations } = observation.shape;
/** Files about the sky, for commands that name sources. */
export const skyFiles = { eop, orbits, oldOrbits: observation.shape['old-orbits'] };
export const { rate, frequency } = source.shape;
export const { overwrite } = observation.shape;
export const { sources, field: fieldWidth, pixels } = images.shape;

export const out = field(outputPath, { flag: '-o, --out <path>', changes, help: OUT_HELP });
/** Output folder for a result of many files. */
export const outFolder = field(words('the name of a folder'), {
  flag: '-o, --out <folder>',
  changes,
  help: OUT_HELP,
});
export const pngPath = withForm(
  outputPath.refine((name) => /\.png$/i.test(name), 'is not the name of a PNG'),
  { words: 'the path of a PNG' },
);
export const picture = field(pngPath, {
  flag: '--picture <path>',
  changes,
  help: aboutField(images.shape.picture)?.help ?? '',
});

/** Midnight in summer at the Sevilleta: Cyg A, Vir A and Cas A are all up. */
export const FIRST_LIGHT_TIME = '2026-06-21T04:00:00Z';
export const time = field(utc, {
  flag: '--time <utc>',
  changes,
  help: 'when the simulated sky begins',
});
export const noise = field(real, {
  flag: '--noise <jy>',
  changes,
  unit: 'Jy',
  range: { least: 0 },
  default: 10_000,
  help: 'receiver noise of each input, as a flux',
});
export const seed = field(whole, {
  flag: '--seed <number>',
  changes,
  range: { least: 0 },
  default: 1,
  help: 'the same seed gives the same sky and the same faults',
});
export const perfect = field(given, {
  flag: '--perfect',
  changes,
  help: 'antennas of gain 1, instead of unknown gains and cable delays',
});
const voltageTypes = ['i8', 'i16', 'f32', 'ci8', 'ci16', 'cf32'] as const satisfies readonly VoltageType[];
export const type = field(z.enum(voltageTypes), {
  flag: '--type <type>',
  changes,
  default: 'ci8',
  help: `type of simulated samples: ${voltageTypes.join(', ')}; a leading c is complex`,
});
export const duration = source.shape.duration;
export const polarise = field(repeated('NAME:Q:U:V'), {
  flag: '--polarise <NAME:Q:U:V>',
  changes,
  default: [],
  help: 'Stokes fractions of a source, −1 to 1; may be repeated',
});
export const skyTelescope = variant(telescope, { default: 'lwasv' });
export const pageAddress = field(words('PORT or HOST:PORT'), {
  flag: '--page [address]',
  changes,
  help: aboutField(pageFields.shape.address)?.help ?? '',
});

const server = 'Server of the queue (NATS)';
const path = (name: string, help: string) =>
  field(inputPath, { flag: `--${name} <path>`, group: server, changes, help });
/** Access to a NATS server. */
export const access = {
  server: field(words('the address of a server'), {
    flag: '--server <url>',
    group: server,
    changes,
    help: 'address of nats-server, like nats://head:4222',
  }),
  token: field(words('a token'), {
    flag: '--token <token>',
    group: server,
    changes,
    help: 'token of the server; others on this machine see it in the list of processes',
  }),
  serverTokenFile: path('server-token-file', 'file with the token of the server'),
  nkey: path('nkey', 'file with the seed of an NKey'),
  creds: path('creds', 'file of credentials, as nsc writes it'),
  tlsCa: path('tls-ca', "authority that signed the server's certificate"),
  tlsCert: path('tls-cert', 'own certificate, where the server asks for one'),
  tlsKey: path('tls-key', 'key of the own certificate'),
};
export const timeout = field(timeS, {
  flag: '--timeout <time>',
  changes,
  unit: 's',
  range: { above: 0 },
  default: 30,
  otherwise: '30s',
  help: 'a job of a worker that is silent for this long goes to another',
});
export const root = {
  flag: '--root <folder>',
  changes,
  help: 'folder of the recordings, or its address (http://archive/data); the same data have the same place under the --root of every machine, and a worker reads nothing else',
} as const;
