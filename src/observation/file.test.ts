import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CorellaError } from '../core/errors.js';
import { canonicalJson } from './canonical.js';
import { ObservationError } from './check.js';
import { canonicalObservation, parseObservation, writeObservation } from './file.js';

const fullText = `corella: 1
source: { listen: 4015, format: chips, interface: eth1 }
telescope: lwasv
front:
  delays: { track: Cyg A }
flags: { inputs: [12, stand17, "stand41:Y"], channels: [40-42], kurtosis: true }
gains: gains.json
products:
  - visibilities: run.uvh5
    integration: 1s
    file-every: 10 min
  - images:
    every: 40ms
    method: direct
machine: { backend: cuda }
`;

/** The lines of the refusal. */
function refused(text: string): readonly string[] {
  try {
    parseObservation(text, 'run.yaml');
  } catch (error) {
    assert.ok(error instanceof ObservationError, String(error));
    return error.message.split('\n');
  }
  assert.fail('accepted');
}

const start = 'corella: 1\nsource: { recording: a }\n';
const end = 'products: [{ visibilities: v.uvh5 }]\n';

describe('observation files', () => {
  it('are read from YAML, with quantities as numbers and short forms as parts', () => {
    const { observation, at } = parseObservation(fullText, 'run.yaml');
    assert.deepEqual(observation, {
      corella: 1,
      source: { listen: '4015', format: 'chips', interface: 'eth1' },
      telescope: 'lwasv',
      front: { delays: { track: 'Cyg A' } },
      flags: { inputs: ['12', 'stand17', 'stand41:Y'], channels: ['40-42'], kurtosis: true },
      gains: { file: 'gains.json' },
      products: [
        { visibilities: 'run.uvh5', integration: 1, 'file-every': 600 },
        { images: null, every: 0.04, method: 'direct' },
      ],
      machine: { backend: 'cuda' },
    });
    assert.equal(at(['products', 1, 'every']), 'run.yaml:13:12');
    assert.equal(at(['front', 'delays', 'fixed']), 'run.yaml:5:11', 'the nearest part that is given');
  });

  it('are the same after writing and reading again, in YAML and JSON', () => {
    const { observation } = parseObservation(fullText);
    for (const format of ['yaml', 'json'] as const) {
      const text = writeObservation(observation, format);
      assert.deepEqual(parseObservation(text).observation, observation, format);
      assert.equal(writeObservation(parseObservation(text).observation, format), text);
    }
    assert.match(writeObservation(observation), /^corella: 1\nsource:\n {2}listen: "4015"\n/);
    assert.deepEqual(parseObservation(canonicalObservation(observation)).observation, observation);
  });

  it('are read from JSON that is indented by tabs', () => {
    const { observation } = parseObservation(fullText);
    const text = JSON.stringify(observation, null, '\t');
    assert.deepEqual(parseObservation(text).observation, observation);
  });

  it('name line, column, field and what is allowed', () => {
    assert.deepEqual(
      refused(
        `${start}front:\n  taps: 1000\n  bits: 5\nproducts:\n  - visibilities: b.uvh5\n    integration: 40 parsecs\n  - images: x.fits\n    method: magic\n    every: -1s\n`,
      ),
      [
        'run.yaml:4:9: front.taps: 1000 is out of range; give a whole number, from 1 to 256',
        'run.yaml:5:9: front.bits: 5 is not allowed; give 8, 4 or float',
        'run.yaml:8:18: products.visibilities.integration: "40 parsecs" is not a time; give a time, like 40ms, 2s, 10min or plain seconds, above 0 s',
        'run.yaml:11:12: products.images.every: -1 is out of range; give a time, like 40ms, 2s, 10min or plain seconds, above 0 s',
        'run.yaml:10:13: products.images.method: "magic" is not allowed; give visibilities or direct',
      ],
    );
  });

  it('suggest the key that was meant, or list those that are known', () => {
    assert.deepEqual(refused(`${start}front:\n  chanels: 4\n${end}`), [
      "run.yaml:4:3: front.chanels: is not a key that is known here; did you mean 'channels'?",
    ]);
    assert.match(
      refused(`${start}flags: { wednesdays: true }\n${end}`)[0],
      /^run\.yaml:3:10: flags\.wednesdays: is not a key that is known here; known are inputs, channels, times,/,
    );
    assert.match(refused(`${start}${end}produtcs: []\n`)[0], /^run\.yaml:4:1: produtcs: .*'products'\?$/);
  });

  it('report a wrong product by its own key', () => {
    const products = (text: string): readonly string[] => refused(`${start}products:\n${text}`);
    assert.deepEqual(products('  - { images: a.fits, integration: 1s }\n'), [
      'run.yaml:4:23: products.images.integration: is not a key that is known here; known are images, every, method, align, file-every, pixels, field, kernel, weights, centre, cell, accuracy, taper, stokes, clean, threshold, loop-gain, auto-threshold, auto-mask, beam, channels, van-vleck, autos, cube, beam-corrected, element, feeds, picture, range, scale, colours, light, sheet, sources',
    ]);
    assert.deepEqual(products('  - imges: a.fits\n'), [
      "run.yaml:4:5: products.0: has none of visibilities, images, beams, spectra, gains; did you mean 'images'?",
    ]);
    assert.deepEqual(products('  - { images: a.fits, visibilities: b.uvh5 }\n'), [
      'run.yaml:4:5: products.0: has visibilities and images; give exactly one of visibilities, images, beams, spectra, gains',
    ]);
    assert.deepEqual(products('  - images: a.fits\n  - images: b.fits\n    pixels: 0\n'), [
      'run.yaml:6:13: products.images[1].pixels: 0 is out of range; give a whole number, from 16 to 32768',
    ]);
    assert.match(
      products('  - images: [a.fits]\n')[0],
      /^run\.yaml:4:13: products\.images: a list is not allowed; give the path of a file to write, or null$/,
    );
    assert.match(
      products('  - visibilities\n')[0],
      /products\.0: "visibilities" is not allowed; give one of/,
    );
    assert.match(
      refused(`${start}products: []\n`)[0],
      /^run\.yaml:3:11: products: is empty; give a list: one of/,
    );
  });

  it('refuse no source, two sources, values of a wrong kind and other versions', () => {
    assert.match(
      refused(`corella: 1\nsource: {}\n${end}`)[0],
      /^run\.yaml:2:9: source: does not state where the data come from; give exactly one of recording,/,
    );
    assert.match(
      refused(`corella: 1\nsource: { recording: a, listen: 1 }\n${end}`)[0],
      /source: has recording and listen/,
    );
    assert.match(refused(`corella: 1\nsource:\n${end}`)[0], /^run\.yaml:2:8: source: null is not allowed/);
    assert.match(
      refused(`corella: 1\n${end}`)[0],
      /^run\.yaml:1:1: source: is missing; give the keys recording,/,
    );
    assert.match(
      refused(`${start}flags: { kurtosis: yes }\n${end}`)[0],
      /"yes" is not allowed; give true, false or/,
    );
    assert.match(
      refused(`${start}flags: { channels: [1, 4x] }\n${end}`)[0],
      /^run\.yaml:3:24: flags\.channels\.1: "4x" is not a channel/,
    );
    assert.match(
      refused(`${start}start: tomorrow\n${end}`)[0],
      /^run\.yaml:3:8: start: "tomorrow" is not a UTC time; give a UTC time, like/,
    );
    assert.match(
      refused('corella: 2\n')[0],
      /^run\.yaml:1:10: corella: version 2 is not known; this program reads version 1/,
    );
    assert.match(refused(`${start}machine: { threads: .inf }\n${end}`)[0], /machine\.threads/);
  });

  it('refuse broken YAML with its place', () => {
    assert.match(refused('corella: 1\nsource: [oops\n')[0], /^run\.yaml:3:1: .*; correct the YAML$/);
    assert.match(refused('corella: 1\ncorella: 1\n')[0], /^run\.yaml:2:1: .*unique/);
    assert.match(refused('corella: !odd 1\n')[0], /^run\.yaml:1:10: .*tag/);
    assert.throws(() => parseObservation('# nothing\n', 'run.yaml'), /run\.yaml: is empty/);
  });

  it('refuse what has no end, or hardly one', () => {
    const line = (text: string): string => {
      assert.throws(() => parseObservation(text, 'run.yaml'), CorellaError);
      try {
        parseObservation(text, 'run.yaml');
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    // Each list of the one before, nine times.
    const bomb = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, k, names) => {
      const one = k === 0 ? 'x' : `*${names[k - 1]}`;
      return `${name}: &${name} [${Array.from({ length: 9 }, () => one).join(', ')}]`;
    });
    assert.match(line(bomb.join('\n')), /^run\.yaml: its aliases .* cannot be followed/);
    assert.match(line('corella: 1\nsource: *unknown\n'), /^run\.yaml: its aliases .*unknown/);
    for (const cycle of ['corella: 1\nproducts: &p [*p]\n', '&a {corella: 1, source: *a}\n'])
      assert.match(
        line(cycle),
        /^run\.yaml:1:\d: has more than 32 levels .*, or something that contains itself/,
      );
    const deep = (levels: number): string =>
      `corella: 1\nproducts: ${'['.repeat(levels)}${']'.repeat(levels)}\n`;
    assert.match(line(deep(500)), /^run\.yaml:1:1: has more than 32 levels/);
    assert.match(line(deep(20_000)), /^run\.yaml:2:\d+: lists or maps are nested too deeply/);
    // Aliases as such are none of that.
    parseObservation(
      `corella: 1\nsource: { recording: &name a.uvh5 }\nproducts: [{ visibilities: b.uvh5 }]\n`,
    );
  });
});

describe('canonical JSON', () => {
  it('has sorted keys and no white space, and refuses what is not JSON', () => {
    assert.equal(
      canonicalJson({ b: [1, { d: null, c: 'é' }], a: 0.1, z: undefined }),
      '{"a":0.1,"b":[1,{"c":"é","d":null}]}',
    );
    assert.throws(() => canonicalJson({ a: Number.NaN }), /NaN is not JSON/);
    assert.throws(() => canonicalJson([undefined]), /undefined is not JSON/);
  });
});
