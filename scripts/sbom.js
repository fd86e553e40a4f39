// The third-party components shipped with Corella, from package-lock.json alone, so that the same lock file makes the
// same bytes:
//   sbom.cdx.json             CycloneDX 1.5: every package with its version, licence, hash and dependents
//   THIRD-PARTY-NOTICES.txt   their licences, word for word
// Those of a bundle name Node as well. Into dist/ by `npm run prepare`, and into the bundle for its target.
//   node scripts/sbom.js [--out DIR] [--target linux-x64]
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Development dependencies whose code is in the page's script. */
const inPage = ['lit', 'uplot'];

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().default(''),
      license: z.string().optional(),
      integrity: z.string().optional(),
      dev: z.boolean().default(false),
      os: z.array(z.string()).optional(),
      cpu: z.array(z.string()).optional(),
      dependencies: z.record(z.string(), z.string()).default({}),
    }),
  ),
});
const lock = lockFile.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))).packages;

/** @typedef {z.infer<typeof lockFile>['packages'][string]} Locked */
/** @typedef {{ name: string, path: string, facts: Locked }} Shipped */

/** The packages in the page, with their dependencies. */
function pagePackages() {
  const found = new Set(inPage);
  const byPath = new Map(Object.entries(lock));
  for (const name of found)
    for (const other of Object.keys(byPath.get(`node_modules/${name}`)?.dependencies ?? {}))
      if (!other.startsWith('@types/')) found.add(other);
  return found;
}

/**
 * What is shipped: production dependencies that suit the target (all if there is none), and the page's.
 * @param {string | undefined} target
 * @returns {Shipped[]}
 */
function shipped(target) {
  const [platform, architecture] = target?.split('-') ?? [];
  const page = pagePackages();
  return Object.entries(lock)
    .map(([path, facts]) => ({ name: path.replace(/^.*node_modules\//, ''), path, facts }))
    .filter(({ name, path, facts }) => path !== '' && (!facts.dev || page.has(name)))
    .filter(({ facts }) => !target || !facts.os || facts.os.includes(platform))
    .filter(({ facts }) => !target || !facts.cpu || facts.cpu.includes(architecture));
}

/**
 * @param {string} name
 * @param {string} version
 */
const purl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** @param {Shipped} one */
function component({ name, facts: { version, license, integrity } }) {
  const [algorithm, digest] = integrity?.split(/-(.*)/s) ?? [];
  // SPDX identifiers have no spaces; other text is a name.
  const named =
    license === undefined ? undefined : /^[\w.+-]+$/.test(license) ? { id: license } : { name: license };
  return {
    type: 'library',
    'bom-ref': purl(name, version),
    name,
    version,
    purl: purl(name, version),
    ...(named && { licenses: [{ license: named }] }),
    ...(digest && {
      hashes: [
        { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') },
      ],
    }),
  };
}

/** @param {string | undefined} target */
function bill(target) {
  const own = lock[''];
  const parts = shipped(target);
  const byName = new Map(parts.map(({ name, facts }) => [name, purl(name, facts.version)]));
  /** @param {Record<string, string>} needs */
  const refs = (needs) => Object.keys(needs).flatMap((name) => byName.get(name) ?? []);
  const ref = purl('corella', own.version);
  const node = { type: 'platform', 'bom-ref': 'node', name: 'node', version: process.versions.node };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': ref, name: 'corella', version: own.version, purl: ref },
    },
    components: [...parts.map(component), ...(target ? [node] : [])],
    dependencies: [
      {
        ref,
        dependsOn: refs({ ...own.dependencies, ...Object.fromEntries(inPage.map((name) => [name, ''])) }),
      },
      ...parts.map(({ name, facts }) => ({
        ref: purl(name, facts.version),
        dependsOn: refs(facts.dependencies),
      })),
    ],
  };
}

/** @param {Shipped} one */
function notice({ name, path, facts: { version, license } }) {
  const folder = join(root, path);
  const files = existsSync(folder)
    ? readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)(?:\.(?:md|txt))?$/i.test(file))
    : [];
  const words = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const title = `${name} ${version}, ${license ?? 'no licence named'}`;
  return [title, ...words].join('\n\n');
}

/**
 * @param {string} folder
 * @param {string} [target]
 */
export function writeBill(folder, target) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill(target), null, 2)}\n`);
  // A package for another machine is not installed here; its licence is that of its parent package.
  const words = shipped(target).map(notice);
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), `${words.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: join(root, 'dist') }, target: { type: 'string' } },
  });
  writeBill(values.out, values.target);
}
