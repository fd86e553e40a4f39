// What a farm costs beside its work: jobs a second, bytes a second, the share of time that is not correlation.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { corella, openFarm } from './processes.js';

const submittedOf = z.object({ jobs: z.number() });
const collectedOf = z.object({ jobsPerS: z.number(), bytesPerS: z.number(), collectS: z.number() });
const accountOf = z.object({
  ...{ jobs: z.number(), busyS: z.number(), overheadS: z.number() },
  ...{ sendS: z.number(), readBytes: z.number(), sentBytes: z.number() },
});

/**
 * @param {string} folder
 * @param {{ name: string, simulate: string, how: string, workers: number }} one
 */
async function measure(folder, { name, simulate, how, workers }) {
  const place = join(folder, name);
  mkdirSync(place);
  await corella(folder, ...`simulate ${simulate} --perfect -o ${name}`.split(' '));
  const began = performance.now();
  const taking = how.replaceAll(/ --job-time \S+/g, '');
  await corella(folder, ...`correlate ${name}.sigmf-meta ${taking} -o ${name}.uvh5 --threads 1`.split(' '));
  const aloneS = (performance.now() - began) / 1000;
  const farm = await openFarm(place, { backend: 'auto', patience: '30s' });
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

/** @param {string} folder */
export async function figures(folder) {
  const runs = [
    // Jobs of a few milliseconds: what the queue itself does.
    { name: 'small', simulate: '--stations 2 --rate 200kHz --duration 2s', how: '--channels 16 --integration 2ms --values sums --job-time 2ms', workers: 2 }, // prettier-ignore
    // Results of megabytes.
    { name: 'large', simulate: '--stations 64 --rate 200kHz --duration 1s', how: '--channels 64 --integration 50ms --values sums --job-time 50ms', workers: 2 }, // prettier-ignore
    // Jobs as they are meant to be: a second or more each.
    { name: 'usual', simulate: '--stations 48 --rate 200kHz --duration 2s', how: '--channels 64 --integration 500ms --values sums --job-time 500ms', workers: 2 }, // prettier-ignore
  ];
  console.log(
    'run    jobs workers  jobs/s  submitted/s  results MB/s  read MB/s  not work  preparing  handing over  alone (one thread)',
  );
  for (const one of runs) {
    const { name, jobs, workers, aloneS, submitS, collected, sum } = await measure(folder, one);
    const share = (/** @type {number} */ x) => `${((100 * x) / (sum.busyS + sum.sendS)).toFixed(1)} %`;
    const cells = [
      name.padEnd(6),
      String(jobs).padStart(4),
      String(workers).padStart(7),
      collected.jobsPerS.toFixed(1).padStart(7),
      (jobs / submitS).toFixed(0).padStart(12),
      (collected.bytesPerS / 1e6).toFixed(1).padStart(13),
      (sum.readBytes / collected.collectS / 1e6).toFixed(1).padStart(10),
      share(sum.overheadS + sum.sendS).padStart(9),
      share(sum.overheadS).padStart(10),
      share(sum.sendS).padStart(13),
      `${aloneS.toFixed(1)} s, farm ${collected.collectS.toFixed(1)} s`,
    ];
    console.log(cells.join(' '));
  }
}
