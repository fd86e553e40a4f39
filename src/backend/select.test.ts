import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeDevices, explainAuto, openBackend, type Device } from './select.js';

describe('auto', () => {
  it('takes the fastest backend that this machine has, and opens it', async () => {
    const devices = describeDevices();
    assert.deepEqual(
      devices.map(({ kind }) => kind),
      ['cuda', 'cpu', 'reference'],
    );
    const taken = devices.filter(({ auto }) => auto);
    assert.equal(taken.length, 1);
    assert.equal(
      taken[0],
      devices.find(({ present }) => present),
    );
    const backend = await openBackend('auto', { threads: 1 });
    assert.equal(backend.kind, taken[0].kind);
    await backend.close();
  });

  it('is asked for threads alone: the reference has one, and more are refused there', async () => {
    await (await openBackend('reference', { threads: 1 })).close();
    await assert.rejects(
      openBackend('cuda', { threads: 2 }),
      /cuda: threads are the processor's, not a card's/,
    );
    await assert.rejects(
      openBackend('reference', { threads: 2 }),
      /reference: has one thread, not 2; choose backend 'cpu'/,
    );
  });

  it('reports what it takes, and why not something faster', () => {
    const absent = { present: false, reason: 'there is no card', fix: 'buy one', auto: false } as const;
    const present = { present: true, description: 'here' } as const;
    const devices: Device[] = [
      { kind: 'cuda', ...absent },
      { kind: 'cpu', ...present, auto: true },
      { kind: 'reference', ...present, auto: false },
    ];
    assert.equal(
      explainAuto(devices),
      "auto takes 'cpu', the fastest present; 'cuda' is absent: there is no card",
    );
    assert.equal(
      explainAuto([{ kind: 'cuda', ...present, auto: true }]),
      "auto takes 'cuda', the fastest present",
    );
    assert.equal(explainAuto([{ kind: 'cuda', ...absent }]), 'auto finds no backend');
  });
});
