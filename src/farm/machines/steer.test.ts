/** Only machines with the pages' token may steer over NATS. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { headers } from '@nats-io/transport-node';
import { openBus } from '../testing/bus.js';
import { answerState, listenToNight, type MachineState } from './images.js';
import { Proofs } from './proofs.js';
import { answerSteering, steerAll } from './steer.js';

const TOKEN = 'a-token-of-our-own';
const OTHER = 'another-token-here';
const holds = { from: '2026-06-21T04:00:00Z', fromTick: '1' };

/** Machines that record what they did, and for whom. */
function machinesOn(bus: ReturnType<typeof openBus>, names: readonly string[], token = TOKEN) {
  const done: string[] = [];
  for (const name of names)
    answerSteering(bus.queue, 'observation', name, {
      proofs: new Proofs(token),
      rehearse: () => Promise.resolve(holds),
      run: (command, _, who) => {
        done.push(`${name}: ${command} by ${who}`);
        return Promise.resolve(holds);
      },
    });
  return done;
}
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
const stop = { command: 'stop', body: {}, who: 'anna', machines: ['low', 'high'] };

describe('steering over NATS', () => {
  it('is done by whoever has the token', async () => {
    const bus = openBus();
    const done = machinesOn(bus, ['low', 'high']);
    const answers = await steerAll(bus.queue, 'observation', { ...stop, token: TOKEN });
    assert.deepEqual(done.sort(), ['high: stop by anna', 'low: stop by anna']);
    assert.deepEqual(answers.map(({ machine, isReady }) => [machine, isReady]), [['low', true], ['high', true]]); // prettier-ignore
    // The token itself is in no message.
    assert.ok(
      bus.seen.every(
        ({ text, headers: head }) => !`${text}${head?.values('Corella-Proof').join() ?? ''}`.includes(TOKEN),
      ),
    );
  });

  it('is not done by two plain messages', async () => {
    const bus = openBus();
    const done = machinesOn(bus, ['low']);
    const say = (call: object): void => {
      bus.queue.connection.publish('corella.observation.steer', JSON.stringify(call), { reply: 'inbox' });
    };
    say({ round: 'prepare', id: 'x', command: 'stop', body: {}, who: 'anna' });
    await settled();
    say({ round: 'commit', id: 'x' });
    await settled();
    assert.deepEqual(done, []);
    assert.match(bus.seen.at(-1)?.text ?? '', /"isReady":false.*token/);
  });

  it('is refused with another token, with none, and where machines have different ones', async () => {
    const bus = openBus();
    const done = [machinesOn(bus, ['low']), machinesOn(bus, ['high'], OTHER)];
    const steer = (token: string | undefined) => steerAll(bus.queue, 'observation', { ...stop, token });
    await assert.rejects(steer('yet-another-token'), /nothing was changed; low: .*another token.*; high: .*another token/); // prettier-ignore
    await assert.rejects(steer(TOKEN), /nothing was changed; high: .*another token/);
    await assert.rejects(steer(undefined), /needs the token.*`page-token-file`/);
    assert.deepEqual(done, [[], []]);
  });

  it('is done once: what was sent cannot be sent again, nor changed, nor kept for later', async () => {
    const bus = openBus();
    const done = machinesOn(bus, ['low']);
    await steerAll(bus.queue, 'observation', { ...stop, machines: ['low'], token: TOKEN });
    assert.equal(done.length, 1);
    const calls = bus.seen.filter(({ subject }) => subject === 'corella.observation.steer');
    assert.equal(calls.length, 2);
    for (const change of ['', ' ']) {
      for (const { subject, text, headers: head } of calls)
        bus.queue.connection.publish(subject, `${text}${change}`, { headers: head ?? headers() });
      await settled();
    }
    assert.equal(done.length, 1);
    let nowMs = Date.now();
    const proofs = new Proofs(TOKEN, () => nowMs);
    const head = proofs.headersFor('a.subject', 'data');
    const message = { subject: 'a.subject', data: new TextEncoder().encode('data'), headers: head };
    nowMs += 11_000;
    assert.match(new Proofs(TOKEN, () => nowMs).refusal(message) ?? '', /11 s/);
  });

  it('does not believe answers in the name of a machine', async () => {
    const bus = openBus();
    // Answers for a machine that does not exist.
    bus.queue.connection.subscribe('corella.observation.steer', {
      callback: (_, message) => {
        message.respond(JSON.stringify({ machine: 'low', isReady: true, ...holds }));
      },
    });
    await assert.rejects(
      steerAll(bus.queue, 'observation', { ...stop, machines: ['low'], token: TOKEN }),
      /nothing was changed; low: no answer/,
    );
  });
});

describe('the state that a machine sends to another that joins', () => {
  it('is believed with the token alone', async () => {
    const bus = openBus();
    const machineState = (machine: string): MachineState => ({ machine, startedUnixS: 1, minutes: [] });
    const ends = [
      answerState(bus.queue, 'observation', () => machineState('low'), new Proofs(TOKEN)),
      answerState(bus.queue, 'observation', () => machineState('forged'), new Proofs(OTHER)),
    ];
    bus.queue.connection.subscribe('corella.observation.book', {
      callback: (_, message) => {
        message.respond(JSON.stringify(machineState('plain')));
      },
    });
    const [believed, refused]: [string[], string[]] = [[], []];
    const ears = listenToNight(bus.queue, 'observation', {
      proofs: new Proofs(TOKEN),
      machineState: ({ machine }) => believed.push(machine),
      refused: (machine) => refused.push(machine),
    });
    ears.ask();
    await settled();
    assert.deepEqual(believed, ['low']);
    assert.deepEqual(refused.sort(), ['forged', 'plain']);
    ears.end();
    for (const end of ends) end();
  });
});
