import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';

const module = JSON.stringify(new URL('./ending.js', import.meta.url).href);

/** Runs a program that should end by itself; returns its output and how it ended. */
async function endOf(
  script: string,
): Promise<{ readonly printed: string; readonly by: string | number | null }> {
  const words = ['--input-type=module', '--eval', `import { beforeEnding } from ${module};\n${script}`];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (data: Buffer) => (printed += data.toString()));
  const by = await new Promise<string | number | null>((resolve) => {
    child.on('close', (code, signal) => {
      resolve(signal ?? code);
    });
  });
  return { printed, by };
}

const say = (word: string): string => `beforeEnding(() => { process.stdout.write('${word} '); });`;
/** Exits with 7 if the signal did not end it. */
const signalItself = "setTimeout(() => process.exit(7), 10000); process.kill(process.pid, 'SIGTERM');";

describe('before the process ends by a signal', () => {
  it('last things are done, the youngest first, and the signal has its way', async () => {
    assert.deepEqual(await endOf(`${say('old')} ${say('young')} ${signalItself}`), {
      printed: 'young old ',
      by: 'SIGTERM',
    });
  });

  it('one that fails does not stop the others', async () => {
    const fails = "beforeEnding(() => { throw new Error('fell'); });";
    assert.deepEqual(await endOf(`${say('old')} ${fails} ${signalItself}`), {
      printed: 'old ',
      by: 'SIGTERM',
    });
  });

  it('what was called off is not done', async () => {
    const script = `const off = ${say('one')} ${say('two')} off(); ${signalItself}`;
    assert.deepEqual(await endOf(script), { printed: 'two ', by: 'SIGTERM' });
    const none = `const off = ${say('one')} off(); ${signalItself}`;
    assert.deepEqual(await endOf(none), { printed: '', by: 'SIGTERM' });
  });

  it('a second signal does not wait for them', async () => {
    // The second signal arrives during the last action.
    const script = `
      import { spawn } from 'node:child_process';
      beforeEnding(() => {
        spawn('/bin/sh', ['-c', 'sleep 0.2; kill -TERM ' + process.pid], { stdio: 'ignore' });
        process.stdout.write('spinning ');
        for (const end = Date.now() + 5000; Date.now() < end; );
        process.stdout.write('waited ');
      });
      ${signalItself}`;
    assert.deepEqual(await endOf(script), { printed: 'spinning ', by: 'SIGTERM' });
  });

  it('whoever else answers the signal decides', async () => {
    const answers = "process.on('SIGTERM', () => { process.stdout.write('mine '); process.exit(3); });";
    assert.deepEqual(await endOf(`${say('last')} ${answers} ${signalItself}`), {
      printed: 'last mine ',
      by: 3,
    });
  });
});
