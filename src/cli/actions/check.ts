/** What corella check does, loaded when it runs. */
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { formatInstant } from '../../core/instant.js';
import { formatBytes, formatHz, formatSeconds } from '../../core/units.js';
import { textOf, type Message } from '../../messages/index.js';
import { sampleRateOf } from '../../formats/index.js';
import { checkLive } from '../../live/index.js';
import { productName } from '../../products/index.js';
import {
  checkPlannedOutputs,
  isOfLiveData,
  readObservation,
  skyModelsOf,
  refuseUnwritten,
  sourceKind,
  withPlan,
  writeObservation,
  type ObservationPlan,
} from '../../observation/index.js';
import {
  checkPlannedVisibilities,
  withVisibilities,
  type VisibilitiesPlan,
} from '../../visibilities/index.js';
import { openTerminal } from '../report/terminal.js';
import { sizeText } from './run.js';
import type { Options } from '../options/own.js';
import { reportSkyModels } from '../options/sky-options.js';
import type { checkOptions } from '../check.js';

export async function check(path: string, options: Options<typeof checkOptions>): Promise<void> {
  const { observation } = await readObservation(path);
  for (const model of skyModelsOf(observation)) await reportSkyModels(model, options);
  const terminal = openTerminal(options);
  const report = async (plan: Checked): Promise<void> => {
    const disks = await Promise.all(
      plan.products.map(async ({ paths }) => {
        const folder = dirname(resolve(paths[0]));
        const { bavail, bsize } = await statfs(folder).catch(() => statfs('.'));
        return { folder, freeBytes: bavail * bsize };
      }),
    );
    const { facts, lines, warnings } = plan;
    const products = plan.products.map(({ name, paths, sizeBytes }, k) => ({
      product: name,
      paths,
      sizeBytes,
      ...disks[k],
    }));
    terminal.result({ observation, ...facts, warnings: warnings.map(textOf), products }, [
      writeObservation(observation).trimEnd(),
      '',
      ...lines,
      ...warnings,
      ...plan.products.map(
        ({ name, paths, sizeBytes }, k) =>
          `${name}: ${paths.join(', ')}${sizeText(sizeBytes)}; ${formatBytes(disks[k].freeBytes)} free` +
          ((sizeBytes ?? 0) > disks[k].freeBytes ? ': TOO LITTLE' : ''),
      ),
    ]);
    if (plan.products.some(({ sizeBytes = 0 }, k) => sizeBytes > disks[k].freeBytes)) process.exitCode = 1;
  };
  if (isOfLiveData(observation)) {
    await report(ofLive(await checkLive(observation)));
    return;
  }
  refuseUnwritten(observation);
  if (sourceKind(observation.source) === 'visibilities')
    await withVisibilities(observation, async (plan, { paths }) => {
      await checkPlannedVisibilities(plan, paths);
      await report({ ...plan, ...ofVisibilities(plan) });
    });
  else
    await withPlan(observation, async (plan, opened) => {
      await checkPlannedOutputs(plan, opened);
      await report({ ...plan, facts: factsOf(plan), lines: sourceLines(plan) });
    });
}

/** The reported facts of a plan, for any source. */
interface Checked {
  readonly facts: object;
  readonly lines: readonly string[];
  readonly warnings: readonly Message[];
  readonly products: readonly {
    readonly name: string;
    readonly paths: readonly string[];
    readonly sizeBytes?: number;
  }[];
}

function ofLive({
  observation: { products },
  telescope,
  lacks,
}: Awaited<ReturnType<typeof checkLive>>): Checked {
  return {
    facts: { telescope: telescope?.name },
    lines: [
      ...(telescope
        ? [`telescope: ${telescope.name}, ${telescope.stations.length} stations × ${telescope.polarisations}`]
        : []),
      'channels, rates and sizes are known when data arrive',
    ],
    warnings: lacks,
    products: products.flatMap((product) => {
      const name = productName(product);
      const path = (product as Readonly<Record<string, unknown>>)[name];
      return typeof path === 'string' ? [{ name, paths: [path] }] : [];
    }),
  };
}

function ofVisibilities({ from: { opened, telescope } }: VisibilitiesPlan): Pick<Checked, 'facts' | 'lines'> {
  const { frequenciesHz, channelWidthHz, polarisations } = opened.header;
  const [first, last] = [frequenciesHz[0], frequenciesHz[frequenciesHz.length - 1]];
  return {
    facts: {
      telescope: telescope.name,
      integrations: opened.integrationCount,
      channels: frequenciesHz.length,
      channelWidthHz,
    },
    lines: [
      `source: ${opened.path}, ${opened.integrationCount} integrations, visibilities`,
      `telescope: ${telescope.name}, ${telescope.stations.length} stations × ${polarisations}`,
      `channels: ${frequenciesHz.length} of ${formatHz(channelWidthHz)}, ${formatHz(first)} to ${formatHz(last)}`,
    ],
  };
}

function sourceLines({ observed: { recording, telescope, spectra } }: ObservationPlan): string[] {
  const lastsS = recording.samples / sampleRateOf(recording);
  const [first, last] = [spectra.frequenciesHz[0], spectra.frequenciesHz[spectra.channels - 1]];
  return [
    `source: ${recording.path}, ${formatInstant(recording.start, 3)}, ${formatSeconds(lastsS)}, ${recording.kind}`,
    `telescope: ${telescope.name}, ${telescope.stations.length} stations × ${recording.polarisations}`,
    `spectra: ${spectra.channels} channels of ${formatHz(spectra.channelWidthHz)}, ${formatHz(first)} to ${formatHz(last)}, ` +
      `${spectra.type}, ${Number(spectra.grid.spectrumRateHz.toPrecision(6))} per second`,
  ];
}

const factsOf = ({ observed }: ObservationPlan): object => ({
  telescope: observed.telescope.name,
  channels: observed.spectra.channels,
  channelWidthHz: observed.spectra.channelWidthHz,
  spectrumRateHz: observed.spectra.grid.spectrumRateHz,
});
