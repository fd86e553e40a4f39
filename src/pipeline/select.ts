/** Taking one integration, or the sum of all, out of a file of visibilities. */
import { visibilitiesCBPP, countsCB } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { secondsBetween } from '../core/instant.js';
import type { VisibilityFile } from '../formats/format.js';

/** The sky turns by a tenth of a 1° pixel in this time: summing for longer would smear. */
export const LONGEST_SUM_S = 30;

/** Which part of a file: an integration by its number, or as many from the first as the sky allows. */
export type IntegrationChoice = number | 'sum';

export async function chooseIntegration(
  file: VisibilityFile,
  choice: IntegrationChoice,
): Promise<Integration> {
  let at = 0;
  let sum: Integration | undefined;
  for await (const integration of file.integrations()) {
    if (choice === at) return integration;
    if (choice === 'sum') {
      if (sum && secondsBetween(sum.start, integration.start) + integration.durationS > LONGEST_SUM_S) break;
      sum = sum === undefined ? integration : addIntegrations(sum, integration);
    }
    at++;
  }
  return (
    sum ??
    refuse(
      file.path,
      `has ${at} integrations, so there is no number ${choice}`,
      `give one from 0 to ${at - 1}`,
    )
  );
}

/** Sums are sums: visibilities and counts add. An input flagged in either is flagged. */
export function addIntegrations(x: Integration, y: Integration): Integration {
  if (x.visibilities.length !== y.visibilities.length || x.counts.length !== y.counts.length) {
    refuse('integrations', 'of different shapes cannot be summed', 'image or calibrate them one by one');
  }
  const { channels, stations, polarisations } = x;
  const baselines = (stations * (stations + 1)) / 2;
  return {
    start: x.start,
    channels,
    stations,
    polarisations,
    // What the files said of one or the other (`filed`) does not hold for their sum.
    durationS: secondsBetween(x.start, y.start) + y.durationS,
    visibilities: visibilitiesCBPP(
      x.visibilities.map((value, k) => value + y.visibilities[k]),
      channels,
      baselines,
      polarisations,
    ),
    counts: countsCB(
      x.counts.map((value, k) => value + y.counts[k]),
      channels,
      baselines,
    ),
    flaggedInputs: x.flaggedInputs.map((flag, a) => flag | y.flaggedInputs[a]),
  };
}
