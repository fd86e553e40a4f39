import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { checkObservation } from './check.js';
import { addFlags, inFlagsOf, type FlagSettings, type GivenFields } from './flags.js';
import { directFlag, flagRules, timesFlag } from './shorthands.js';

const correlate: FlagSettings = {
  parts: ['observation', 'source', 'front', 'flags', 'products.visibilities', 'machine'],
  without: ['for', 'source.capture', 'source.listen'],
  also: [flagRules, timesFlag],
};

function parsed(words: readonly string[], settings: FlagSettings = correlate): GivenFields {
  const command = new Command('test').exitOverride().configureOutput({ writeErr: () => undefined });
  const flags = addFlags(command, settings);
  command.parse(words, { from: 'user' });
  return flags.given();
}

describe('flags of an observation', () => {
  it('are put at the paths of their fields', () => {
    const { observation, products } = parsed([
      '-o',
      'b.uvh5',
      '--integration',
      '40ms',
      '--track',
      'Cyg A',
      '--flag',
      'stand17,stand41:Y,channels=3+5-7',
      '--flag',
      '12',
      '--channels',
      '1024',
      '--bits',
      '4',
      '--kurtosis',
      '--cards',
      '0,1',
      '--overwrite',
      '--times',
      '2026-06-21T04:00:00Z..',
      '--keep-channels',
      '8-119,30',
      '--telescope',
      '12',
      '--polarisations',
      '2',
    ]);
    assert.deepEqual(observation, {
      telescope: '12',
      overwrite: true,
      source: { from: '2026-06-21T04:00:00Z', polarisations: 2 },
      front: { channels: 1024, bits: 4, delays: { track: 'Cyg A' } },
      flags: { kurtosis: true, inputs: ['stand17', 'stand41:Y', '12'], channels: ['3', '5-7'] },
      machine: { cards: [0, 1] },
    });
    assert.deepEqual(products, {
      visibilities: { visibilities: 'b.uvh5', integration: '40ms', channels: ['8-119', '30'] },
    });
    const whole = checkObservation({
      corella: 1,
      ...observation,
      source: { recording: 'a.sigmf-meta', ...(observation.source as object) },
      products: [products.visibilities],
    });
    assert.deepEqual(whole.products[0], {
      visibilities: 'b.uvh5',
      integration: 0.04,
      channels: ['8-119', '30'],
    });
  });

  it('that are not given fill nothing, not even defaults', () => {
    assert.deepEqual(parsed([]), { observation: {}, products: {} });
  });

  it('are refused by their flag, with what is allowed', () => {
    assert.throws(
      () => parsed(['--taps', '1000']),
      /^CorellaError: --taps: 1000 is out of range; give a whole number, from 1 to 256$/,
    );
    assert.throws(() => parsed(['--taps', '8x']), /--taps: "8x" is not allowed; give a whole number/);
    assert.throws(
      () => parsed(['--integration', '4 parsecs']),
      /--integration: "4 parsecs" is not a time; give a time, like/,
    );
    assert.throws(() => parsed(['--bits', '5']), /--bits: .*; give 8, 4 or float/);
    assert.throws(() => parsed(['--taps', '8', '--taps', '9']), /--taps: is given twice, '8' and '9'/);
    assert.throws(() => parsed(['--kurtosis', '9']), /--kurtosis: 9 is out of range/);
    assert.throws(() => parsed(['--cards', '0,x']), /--cards: /);
    assert.throws(() => parsed(['--flag', 'channels=3,7']), /'7' after channels=3 would be an input/);
    assert.throws(
      () => parsed(['--flag', 'channels=4x']),
      /--flag: "4x" is not a channel or a range, .*; give a channel/,
    );
    assert.throws(
      () => parsed(['--times', 'now..']),
      /--times: "now" is not a UTC time; give a UTC time, like/,
    );
    assert.throws(() => parsed(['--times', 'now']), /--times: 'now' is not a time range/);
    assert.throws(() => parsed(['--listen', '1']), /unknown option '--listen'/);
  });

  it('may be renamed by a command, and report it in help and errors', () => {
    const settings: FlagSettings = {
      parts: ['source', 'products.visibilities', 'products.images', 'gains'],
      renamed: {
        'products.images.every': { flag: '--image <time>', otherwise: 'none' },
        'products.images.images': { flag: '--picture <path>' },
        'products.images.picture': { flag: '--animation' },
      },
      without: ['products.images.element', 'products.images.sources'],
      also: [directFlag],
    };
    const { observation, products } = parsed(
      [
        '--image',
        '100ms',
        '--picture',
        'live.png',
        '--direct',
        '--no-autos',
        '--gains',
        'g.json',
        '--no-animation',
      ],
      settings,
    );
    assert.deepEqual(observation, { gains: { file: 'g.json' } });
    assert.deepEqual(products, {
      images: { images: 'live.png', every: '100ms', autos: false, picture: false, method: 'direct' },
    });
    const command = new Command('live');
    const { flagOf } = addFlags(command, settings);
    const inFlags = inFlagsOf(command);
    assert.equal(flagOf('products.images.every'), '--image');
    assert.equal(flagOf('products.visibilities.visibilities'), '--out');
    assert.equal(flagOf('products.visibilities'), '--out');
    assert.equal(flagOf('products.images.method'), '--direct');
    assert.equal(flagOf('products.images.align'), undefined);
    assert.equal(
      inFlags(
        'products.images: no image; give products.images.every: 40ms, or gains.filed and x/gains.file.json',
      ),
      '--picture no image; give --image 40ms, or gains.filed and x/gains.file.json',
    );
    // A bare name or one in backquotes; one flag for several fields appears once; a field of another command is named
    // with that command.
    assert.equal(inFlags('every'), '--image');
    assert.equal(inFlags('source.rate: 0.5, another `every`'), '--rate 0.5, another --image');
    assert.equal(inFlags('give `no-such-name`'), 'give `no-such-name`');
    assert.equal(inFlags('products.images.method: direct, for: ever'), '--direct, for: ever');
    assert.equal(inFlags('(products.gains.odd)'), '(calibrate --odd)');
    assert.equal(
      inFlagsOf(new Command('run').argument('<observation>'))('(products.gains.odd)'),
      '(products.gains.odd)',
    );
    const file = new Command('inspect');
    addFlags(file, { parts: ['observation'], also: [timesFlag] });
    assert.equal(
      inFlagsOf(file)('overwrite: true, or telescope: NAME (source.from, source.to)'),
      '--overwrite, or --telescope NAME (--times)',
    );
    const help = command.helpInformation().replaceAll(/\s+/g, ' ');
    assert.match(help, /Images: .*--image <time> an image this often, .*?\(default: none\)/);
    assert.match(help, /--kernel <size> .*\(default: 5\)/);
    assert.doesNotMatch(help, /default: false/);
  });

  it('refuse to rename what is not there', () => {
    assert.throws(
      () => parsed([], { parts: ['front'], without: ['front.tabs'] }),
      /front\.tabs is not a field/,
    );
  });
});
