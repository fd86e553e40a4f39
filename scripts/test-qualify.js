// Shows that the thresholds of `corella qualify` detect faults: breaks a copy of the built program in one place at a
// time, runs the matching figure, and prints which rows failed. Fails if a fault is not detected. Run `npm run build`
// first.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;

/**
 * `file` under dist, a piece of text in it that is replaced, the figure that must fail.
 * @type {readonly { figure: string, what: string, file: string, from: string, to: string, backend?: string }[]}
 */
const breaks = [
  {
    figure: 'tone',
    what: 'channels counted from the wrong bin',
    file: 'channelise/plan.js',
    from: '(channel + plan.channels - Math.floor(plan.channels / 2))',
    to: '(channel + 1 + plan.channels - Math.floor(plan.channels / 2))',
  },
  {
    figure: 'shape',
    what: 'Hann window left out',
    file: 'channelise/filter.js',
    from: '0.5 + 0.5 * Math.cos(Math.PI * x)',
    to: '1',
  },
  {
    figure: 'dynamic-range',
    what: 'taps rounded to 6 bits',
    file: 'channelise/filter.js',
    from: 'const scale = largest / 32767;',
    to: 'const scale = largest / 60;',
  },
  {
    figure: 'linearity',
    what: 'spectra cut off instead of rounded',
    file: 'channelise/reference.js',
    from: 'const nearest = Math.round(value);',
    to: 'const nearest = Math.trunc(value);',
  },
  {
    figure: 'delay',
    what: 'the phase of a delay turned the wrong way',
    file: 'channelise/reference.js',
    from: 'filtered[at + 1] = re * sin + im * cos;',
    to: 'filtered[at + 1] = -re * sin + im * cos;',
  },
  {
    figure: 'signature',
    what: 'one product conjugated',
    file: 'correlate/tiled.js',
    from: 'i01 += ai * dr - ar * di;',
    to: 'i01 += ar * di - ai * dr;',
  },
  {
    figure: 'exactness',
    what: 'one product rounded to single floats',
    file: 'correlate/tiled.js',
    from: 'r10 += br * cr + bi * ci;',
    to: 'r10 = Math.fround(r10 + (br * cr + bi * ci) * 1.0000001);',
  },
  {
    figure: 'noise',
    what: 'gain 2 % high',
    file: 'channelise/reference.js',
    from: 'const factor = outputFactor(plan, input, channel);',
    to: 'const factor = outputFactor(plan, input, channel) * 1.02;',
  },
  {
    figure: 'quantisation',
    what: 'rounding half a level down',
    file: 'channelise/reference.js',
    from: 'const nearest = Math.round(value);',
    to: 'const nearest = Math.floor(value);',
  },
  {
    figure: 'closure',
    what: 'half as much again in one of four imaginary parts',
    file: 'correlate/tiled.js',
    from: 'i01 += ai * dr - ar * di;',
    to: 'i01 += 1.5 * (ai * dr - ar * di);',
  },
  {
    figure: 'gains',
    what: 'real parts of gains 3 % low',
    file: 'calibrate/reference.js',
    from: 'gains[2 * i] = sumRe / power;',
    to: 'gains[2 * i] = (0.97 * sumRe) / power;',
  },
  {
    figure: 'images',
    what: 'pixels 2 % wide',
    file: 'image/plan.js',
    from: 'const pixelSize = (2 * MARGIN * halfWidth) / pixels;',
    to: 'const pixelSize = (2.04 * MARGIN * halfWidth) / pixels;',
  },
  {
    figure: 'loss',
    what: 'a window one spectrum shorter than it is',
    file: 'channelise/stream.js',
    from: 'Math.floor(gap.firstSample / samplesPerSpectrum) - taps + 1)',
    to: 'Math.floor(gap.firstSample / samplesPerSpectrum) - taps + 2)',
  },
  {
    figure: 'files',
    what: 'fringes of UVFITS stopped the wrong way',
    file: 'formats/visibilities/uvfits/write.js',
    from: 'target[at + 1] = im * cos - re * sin;',
    to: 'target[at + 1] = im * cos + re * sin;',
  },
  {
    figure: 'files',
    what: 'UVH5 read with the wrong sign',
    file: 'formats/visibilities/uvh5/read.js',
    from: 'gathering.add(c, product, turnedRe, -turnedIm, weight);',
    to: 'gathering.add(c, product, turnedRe, turnedIm, weight);',
  },
  {
    figure: 'live',
    what: 'an input of a packet put beside its place',
    file: 'receive/turn.js',
    from: 'let from = (c * steps.c + a * steps.a) * elements;',
    to: 'let from = (c * steps.c + (a ^ 1) * steps.a) * elements;',
  },
  {
    figure: 'backends',
    what: 'the reference 1 % high',
    file: 'channelise/reference.js',
    from: 'const factor = outputFactor(plan, input, channel);',
    to: 'const factor = outputFactor(plan, input, channel) * 1.01;',
    backend: 'cpu',
  },
];

const folder = mkdtempSync(join(tmpdir(), 'corella-bites-'));
let unseen = 0;
try {
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const one of breaks.filter(({ figure }) => process.argv.length < 3 || process.argv.includes(figure)))
    unseen += tryBreak(one);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(unseen === 0 ? `\nall ${breaks.length} breaks were seen` : `\n${unseen} breaks went unseen`);
process.exitCode = unseen === 0 ? 0 : 1;

/** @param {(typeof breaks)[number]} one */
function tryBreak({ figure, what, file, from, to, backend = 'reference' }) {
  const path = join(folder, 'dist', file);
  const whole = readFileSync(path, 'utf8');
  if (!whole.includes(from)) {
    console.log(`✗ ${figure}: ${file} has no "${from}" to break any more`);
    return 1;
  }
  writeFileSync(path, whole.replace(from, to));
  const out = join(folder, 'report');
  const words = [
    'qualify',
    '--quick',
    '--only',
    figure,
    '--backend',
    backend,
    '-o',
    out,
    '--overwrite',
    '--json',
  ];
  const run = spawnSync(process.execPath, [join(folder, 'dist/cli/main.js'), ...words], { encoding: 'utf8' });
  writeFileSync(path, whole);
  if (run.status === 0) {
    console.log(`✗ ${figure}: "${what}" went unseen`);
    return 1;
  }
  const red = run.stderr
    .split('\n')
    .filter((line) => line.startsWith(`  ${figure}: `))
    .map((line) => line.trim());
  console.log(`✓ ${what} (${file}): ${red.length} red\n    ${red.slice(0, 3).join('\n    ')}`);
  return red.length > 0 ? 0 : 1;
}
