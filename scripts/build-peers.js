// Builds bench/peers/NAME.cpp, each with another project's library, into build/peers/, for this processor. The head of
// a source names its library and the Debian package that contains it. build.json lists what was built, and what to
// install for the rest.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = join(root, 'bench', 'peers');
const target = join(root, 'build', 'peers');
mkdirSync(target, { recursive: true });

const asked = process.env.CXX?.trim() ?? '';
const [compiler, ...extra] = (asked === '' ? 'g++' : asked).split(/\s+/);
const record = readdirSync(sources)
  .filter((file) => file.endsWith('.cpp'))
  .map((file) => {
    const name = basename(file, '.cpp');
    const source = join(sources, file);
    const text = readFileSync(source, 'utf8');
    const links = (/^\/\/ libraries:(.*)$/m.exec(text)?.[1] ?? '').trim().split(/\s+/).filter(Boolean);
    const debian = /^\/\/ package: (.+)$/m.exec(text)?.[1] ?? 'what its first lines name';
    const library = join(target, `${name}.so`);
    if (existsSync(library) && statSync(library).mtimeMs > statSync(source).mtimeMs) return { name, library };
    const args = [
      ...['-std=c++17', '-O3', '-march=native', '-ffast-math', '-shared', '-fPIC', '-pthread', source],
      ...['-o', library, ...links.map((link) => `-l${link}`)],
    ];
    const { status, stderr, error } = spawnSync(compiler, [...extra, ...args], { encoding: 'utf8' });
    if (status === 0) return { name, library };
    if (error) return { name, problem: 'there is no C++ compiler: apt install g++' };
    const problem = /fatal error: (\S+): No such file|cannot find -l/.test(stderr)
      ? `its library is not installed: apt install ${debian}`
      : `it does not compile: ${stderr}`;
    return { name, problem };
  });
writeFileSync(join(target, 'build.json'), `${JSON.stringify(record, null, 2)}\n`);
