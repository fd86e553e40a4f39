import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findBeam } from '../../sky/beams/registry.js';
import { refuseFollowingAll } from '../looks.js';
import { checkFull, findStation, refuseWrongModel } from './checks.js';

describe('a model that explains too little', () => {
  const words = (asked: Parameters<typeof refuseWrongModel>[2]): string => {
    try {
      return refuseWrongModel({ unexplained: 0.9, noiseResidual: 0.1, left: 0.9 }, 1, asked);
    } catch (error) {
      return String(error);
    }
  };

  it('advises what has not been asked for already', () => {
    assert.match(
      words({}),
      /gains\.diffuse: galaxy\) or leave out baselines that see it \(products\.gains\.min-baseline: 5wl\)/,
    );
    const shorter = words({ 'min-baseline': '5wl' });
    assert.match(
      shorter,
      /put the diffuse sky into the model \(products\.gains\.diffuse: galaxy\), check the/,
    );
    assert.doesNotMatch(shorter, /min-baseline/);
    assert.doesNotMatch(words({ 'min-baseline': '5wl', diffuse: 'galaxy' }), /diffuse|min-baseline/);
  });
});

describe('gains are refused', () => {
  it('by a beam that follows one place, of a file of several targets', () => {
    const beam = findBeam('airy:25');
    assert.throws(() => {
      refuseFollowingAll(beam, 'all');
    }, /source\.target: all, and airy:25 points at the target.*take one target at a time/);
    refuseFollowingAll(beam, 'A');
    refuseFollowingAll(findBeam('cosine:1'), 'all');
  });

  it('against a station that is not there', () => {
    const stations = [{ name: 'a' }, { name: 'b' }];
    assert.deepEqual([findStation('b', stations), findStation('0', stations)], [1, 0]);
    for (const text of ['c', '2', '-1', '0.5'])
      assert.throws(() => findStation(text, stations), /products\.gains\.reference: .*from 0 to 1/);
  });

  it('of full polarisation where the data have one, or another field is against it', () => {
    const full = { polarisation: 'full', over: 'channel' } as const;
    checkFull(full, { polarisations: 2 });
    for (const [asked, header, reason] of [
      [full, { polarisations: 1 }, /polarisation: full: these data have one polarisation/],
      [full, { polarisations: 2, feeds: 'circular' }, /circular feeds/],
      [{ ...full, over: 'delay' }, { polarisations: 2 }, /not products\.gains\.over: delay/],
      [{ ...full, crossHand: { kind: 'given', phaseRad: 1 } }, { polarisations: 2 }, /by the model alone/],
    ] as const)
      assert.throws(() => {
        checkFull(asked, header);
      }, reason);
  });
});
