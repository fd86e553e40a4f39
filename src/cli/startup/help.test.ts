/** Tests of the help of every command. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import ts from 'typescript';
import { fieldsOf } from '../../fields/index.js';
import { observation } from '../../observation/index.js';
import { productFields, productNames } from '../../products/index.js';
import { fullHelp, shortHelp } from './help.js';
import { renamedOptions, withNewSpellings } from './renamed.js';
import { commands } from '../commands.js';
import { pathOf, registered, variantsOf } from './whole-program.js';

const main = fileURLToPath(new URL('../main.js', import.meta.url));
const MOST_LINES = 40;
const WIDTH = 80;

const withWidth = (command: Command): ReturnType<Command['createHelp']> => {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth: WIDTH });
  return helper;
};
const short = (command: Command): string => shortHelp(command, withWidth(command));
const full = (command: Command): string => fullHelp(command, withWidth(command));

/** Strings and parts of templates, except declarations of flags and of command lines. */
function textsIn(code: string): string[] {
  if (!code.includes('--')) return [];
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && ['flag', 'of'].includes(node.name.getText())) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('code.ts', code, ts.ScriptTarget.Latest, true));
  return texts;
}

describe('help', () => {
  for (const { name, words } of variantsOf(commands))
    it(`of ${[name, ...words].join(' ')} is one screen, and --help all has every option`, async () => {
      for (const command of await registered(commands, name, words)) {
        const path = pathOf(command);
        const lines = short(command).trimEnd().split('\n');
        assert.ok(lines.length <= MOST_LINES, `${path}: ${lines.length} lines\n${lines.join('\n')}`);
        assert.equal(lines.at(-1), `${path} --help all shows every option and example.`);
        // Command lines are meant for copying, so they are not wrapped.
        for (const line of lines)
          assert.ok(line.length <= WIDTH || /^ +\$ corella /.test(line), `${path}: ${line}`);
        assert.equal(lines.filter((line) => /^ +\$ corella /.test(line)).length, 3, `${path}: examples`);
        assert.match(command.description(), /^[A-Z].*\.$/, `${path}: sentences`);
        const all = full(command);
        for (const option of command.options.filter(({ hidden }) => !hidden))
          assert.ok(all.includes(option.flags), `${path} ${option.flags}`);
      }
    });
});

describe('options', () => {
  it('have one help text each, whatever the command', async () => {
    const texts = new Map<string, Map<string, string>>();
    for (const { name, words } of variantsOf(commands))
      for (const command of await registered(commands, name, words))
        for (const { long, description, hidden } of command.options) {
          if (hidden || long === undefined) continue;
          const text = description.replace(/ \(default: .*\)$/s, '');
          texts.set(long, (texts.get(long) ?? new Map<string, string>()).set(text, pathOf(command)));
        }
    assert.ok(texts.size > 150);
    const several = [...texts].filter(([, some]) => some.size > 1);
    assert.deepEqual(several, []);
  });

  it('are declared as fields: no command has one by hand', async () => {
    const files = (await readdir(new URL('../', import.meta.url), { recursive: true })).filter(
      (file) => file.endsWith('.js') && !file.endsWith('.test.js') && !file.startsWith('joined'),
    );
    for (const file of files) {
      const text = await readFile(new URL(`../${file}`, import.meta.url), 'utf8');
      assert.doesNotMatch(text, /\.(?:option|requiredOption)\(/, file);
    }
  });

  it('of the schema are in no text of modules that name fields', async () => {
    const flags = new Set<string>();
    const fields = productNames.flatMap((name) => fieldsOf(productFields[name]));
    for (const { about } of [...fieldsOf(observation), ...fields])
      for (const word of about.flag?.split(/[ ,]+/) ?? []) if (word.startsWith('--')) flags.add(word);
    assert.ok(flags.size > 100, String(flags.size));
    // The command line itself, and benchmarks, whose texts are command lines.
    const ofCommands = /^(?:cli|bench|qualify|acceptance)\//;
    const source = new URL('../../../src/', import.meta.url);
    const files = (await readdir(source, { recursive: true })).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !ofCommands.test(file),
    );
    const found: string[] = [];
    for (const file of files)
      for (const text of textsIn(await readFile(new URL(file, source), 'utf8')))
        for (const [flag] of text.matchAll(/--[a-z][a-z-]*/g))
          if (flags.has(flag)) found.push(`${file}: ${text}`);
    assert.deepEqual(found, []);
    assert.deepEqual(textsIn("const a = { flag: '--x', b: '--y' + `--z ${f('--w')} v`; // '--u'"), [
      '--y',
      '--z ',
      '--w',
      ' v',
    ]);
  });

  it('of the version before work, with a warning', async () => {
    for (const { commands: names, from, to } of renamedOptions)
      for (const name of names) {
        const offeredWith = async (words: readonly string[]): Promise<(string | undefined)[]> =>
          (await registered(commands, name, words)).flatMap((command) =>
            command.options.filter(({ hidden }) => !hidden).map(({ long }) => long),
          );
        const offered = await offeredWith([]);
        const direct = name === 'image' ? await offeredWith(['--direct']) : [];
        assert.ok([...offered, ...direct].includes(to), `${name} ${to}`);
        assert.ok(!offered.includes(from) || name === 'live', `${name} ${from}`);
      }
    const lines: string[] = [];
    const now = (line: string): string =>
      withNewSpellings(line.split(' '), (from, to) => lines.push(`${from} ${to}`)).join(' ');
    assert.equal(
      now('calibrate x --every 10s --channels=3-4'),
      'calibrate x --solve-every 10s --keep-channels=3-4',
    );
    assert.equal(lines.length, 2);
    assert.equal(now('image x --cross-hand known -o y'), 'image x --cross-hand-known -o y');
    assert.equal(now('live --listen 1 --channels 0-65'), 'live --listen 1 --receive-channels 0-65');
    lines.length = 0;
    for (const line of [
      'live --listen 1 --channels 64',
      'image --direct x --channels 8 --gain 2',
      'correlate x --channels 8',
    ])
      assert.equal(now(line), line);
    assert.deepEqual(lines, []);
  });
});

describe('the program', () => {
  it('shows one screen with --help, and all with --help all or help COMMAND all', async () => {
    const run = async (...words: readonly string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, [main, ...words])).stdout;
    const one = await run('image', '--help');
    const all = await run('image', '--help', 'all');
    assert.ok(one.trimEnd().split('\n').length <= MOST_LINES);
    assert.ok(!one.includes('--taper') && all.includes('--taper <angle>'));
    assert.equal(await run('help', 'image', 'all'), all);
    const code = await run('help', 'calibrate.leakage-high');
    assert.match(code, /^calibrate\.leakage-high \(warning\)\n\n[A-Z]/);
    assert.match(code, /\n {2}largest +of the other polarisation/);
    assert.ok(code.split('\n').every((line) => line.length <= WIDTH));
    assert.match(await run('help', 'file.exists'), /^file\.exists \(error\)/);
    for (const [asked, meant] of [
      ['calibrate.leakage', 'calibrate.leakage-high'],
      ['file.exist', 'file.exists'],
    ])
      await assert.rejects(run('help', asked), { message: new RegExp(`did you mean ${meant}\\?`) });
    const farm = await run('farm', 'submit', 'correlate', '--help', 'all');
    assert.ok(farm.includes('--kurtosis-over'));
    const list = await run('--help');
    assert.match(list, /\nTry it:\n {2}demo /);
    assert.match(list, /\nStart with: corella demo\n/);
  });
});
