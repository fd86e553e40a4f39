// Overheads of a farm: jobs per second, bytes per second, and the fraction of time not spent on correlation.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { corella } from '../processes.js';
import { openFarm } from './processes.js';

const submittedOf = z.object({ jobs: z.number() });
const collectedOf = z.object({ jobsPerS: z.number(), bytesPerS: z.number(), collectS: z.number() });
const accountOf = z.object({
  ...{ jobs: z.number(), busyS: z.number(), overheadS: z.number() },
  ...{ sendS: z.number(), readBytes: z.number(), sentBytes: z.number() },
});

/**
 * @param {string} folder
 * @param {{ name: string, title: string, simulate: string, how: string, workers: number }} one
 */
async function measure(folder, { name, simulate, how, workers }) {
  const place = join(folder, name);
  mkdirSync(place);
  await corella(folder, ...`simulate ${simulate} --perfect -o ${name}`.split(' '));
  const began = performance.now();
  const taking = how.replaceAll(/ --job-time \S+/g, '');
  await corella(folder, ...`correlate ${name}.sigmf-meta ${taking} -o ${name}.uvh5 --threads 1`.split(' '));
  const aloneS = (performance.now() - began) / 1000;
  const farm = await openFarm(place, { backend: 'auto', timeout: '30s' });
  try {
    const words = `farm submit correlate ../${name}.sigmf-meta ${how} -o farm.uvh5 --json`;
    const submitting = performance.now();
    const { jobs } = submittedOf.parse(
      JSON.parse(await corella(place, ...words.split(' '), '--server', farm.url)),
    );
    const submitS = (performance.now() - submitting) / 1000;
    const names = Array.from({ length: workers }, (_, n) => `w${n}`);
    for (const one of names) farm.startWorker(one, '2s');
    farm.startCollector();
    const code = await farm.collector()?.ended;
    if (code !== 0) throw new Error(farm.collector()?.errors());
    const collected = collectedOf.parse(JSON.parse(farm.collector()?.text() ?? '{}'));
    for (const one of farm.workers.values()) await one.ended;
    const sum = { jobs: 0, busyS: 0, overheadS: 0, sendS: 0, readBytes: 0, sentBytes: 0 };
    for (const one of farm.workers.values()) {
      const account = accountOf.parse(JSON.parse(one.text()));
      for (const key of /** @type {(keyof typeof sum)[]} */ (Object.keys(sum))) sum[key] += account[key];
    }
    return { name, jobs, workers, aloneS, submitS, collected, sum };
  } finally {
    await farm.end();
  }
}

/** Table head of docs/machines.md. */
const HEAD =
  '| jobs | done a second | submitted a second | MB of results a second | MB read a second | neither reading nor computing | of it preparing, handing over | one process, one thread, and the farm |';

/** @param {string} folder */
export async function figures(folder) {
  const runs = [
    // Jobs of a few milliseconds: the cost of the queue itself.
    { name: 'small', title: 'of milliseconds', simulate: '--stations 2 --rate 200kHz --duration 2s', how: '--channels 16 --integration 2ms --values sums --job-time 2ms', workers: 2 }, // prettier-ignore
    // Results of megabytes.
    { name: 'large', title: 'large results', simulate: '--stations 64 --rate 200kHz --duration 1s', how: '--channels 64 --integration 50ms --values sums --job-time 50ms', workers: 2 }, // prettier-ignore
    // Jobs of the intended size: a second or more each.
    { name: 'usual', title: 'of half a second of the recording', simulate: '--stations 48 --rate 200kHz --duration 2s', how: '--channels 64 --integration 500ms --values sums --job-time 500ms', workers: 2 }, // prettier-ignore
  ];
  console.log(HEAD);
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  /** @type {Awaited<ReturnType<typeof measure>>[]} */
  const all = [];
  for (const one of runs) {
    const measured = await measure(folder, one);
    all.push(measured);
    const { jobs, submitS, collected, sum, aloneS } = measured;
    const share = (/** @type {number} */ x) => `${((100 * x) / (sum.busyS + sum.sendS)).toFixed(0)} %`;
    const mb = (/** @type {number} */ x) => (x / 1e6).toPrecision(2);
    const cells = [
      `${one.title}: ${jobs} of ${mb(sum.sentBytes / sum.jobs)} MB of results each`,
      collected.jobsPerS.toFixed(1),
      (jobs / submitS).toFixed(0),
      mb(collected.bytesPerS),
      mb(sum.readBytes / collected.collectS),
      share(sum.overheadS + sum.sendS),
      `${share(sum.overheadS)} and ${share(sum.sendS)}`,
      `${aloneS.toFixed(1)} s and ${collected.collectS.toFixed(1)} s`,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const [small, large] = all.map(({ sum }) => sum);
  const perJobS = (small.overheadS + small.sendS) / small.jobs;
  const perMbS = Math.max(0, large.sendS - (large.jobs * small.sendS) / small.jobs) / (large.sentBytes / 1e6);
  const jobS = 30;
  const share = (100 * (perJobS + 10 * perMbS)) / (jobS + perJobS + 10 * perMbS);
  console.log(
    `\nA job costs ${(1000 * perJobS).toFixed(0)} ms beside its work, and ${(1000 * perMbS).toFixed(0)} ms for each megabyte of its result: of a job of ${jobS} s and 10 MB ${share.toFixed(1)} %.`,
  );
}
