import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkObservation, observationIn } from '../observation/index.js';
import { liveHistory } from './history.js';
import { refuseChange, resolveLive } from './resolve.js';

const observed = (source: object, more: object = {}) =>
  resolveLive(
    checkObservation({
      corella: 1,
      source,
      telescope: 'lwasv',
      page: { address: 8080, 'token-file': '/etc/token' },
      products: [
        { visibilities: '/data/run.uvh5', ...more },
        { images: null, every: '100ms' },
      ],
      machine: { backend: 'cpu' },
    }),
  );
const facts = { reads: [], description: 'snap2, 4 senders', notes: [], log: '/data/run.changes.jsonl' };

it('the history of a live product names the log, and a recording that is to be filled in', () => {
  const lines = liveHistory('0.1.0', observed({ listen: 4015 }), 0, facts);
  const again = observationIn(lines, 'run.uvh5');
  assert.deepEqual(again.source, { recording: 'REPLACE_ME' });
  assert.equal(again.log, 'run.changes.jsonl');
  // The defaults of live data are written.
  assert.deepEqual(again.products, [{ visibilities: 'run.uvh5', integration: 1, align: 'utc' }]);
  assert.ok(lines.some((line) => line.startsWith('REPLACE_ME: the data came live (snap2, 4 senders)')));
  assert.doesNotMatch(lines.join(), /token|\/data|8080|cpu/);
});

it('a capture is named', () => {
  const lines = liveHistory('0.1.0', observed({ capture: '/data/c.pcap' }), 0, facts);
  assert.deepEqual(observationIn(lines, 'run.uvh5').source, { capture: 'c.pcap' });
});

it('a change is refused as it would have been at the start', () => {
  const plain = observed({ listen: 4015 });
  refuseChange(plain, { integrationS: 2 });
  const refused = (integrationS: number, message: RegExp, more: object = {}): void => {
    assert.throws(
      () => {
        refuseChange(observed({ listen: 4015 }, more), { integrationS });
      },
      { message },
    );
  };
  refused(86_400, /longer than an hour/);
  refused(0.25, /no whole number of images/);
  refused(-1, /above 0/);
  refused(700, /shorter than an integration/, { 'file-every': '10min' });
});
