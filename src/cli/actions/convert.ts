/** What corella convert reports. */
import { formatSeconds } from '../../core/units.js';
import type { Line } from '../../messages/index.js';
import { lossFacts, lossLines } from '../../products/report/index.js';
import {
  countText,
  madeFacts,
  madeLines,
  sourceFacts,
  sourceLines,
  type Converted,
} from '../../visibilities/index.js';
import { unknownFactLines } from '../open.js';

export function reportOf(
  converted: Converted,
  to: string,
): { readonly facts: object; readonly lines: Line[] } {
  if ('visibilities' in converted) {
    const { visibilities: outcome } = converted;
    const [made] = outcome.products;
    const figures = madeFacts(made);
    const written = countText(Number('integrations' in figures ? figures.integrations : 0));
    return {
      facts: { kind: 'visibilities', written, ...figures, ...sourceFacts(outcome) },
      lines: [...madeLines(made, outcome), ...sourceLines(outcome)],
    };
  }
  const { recording, copied, seconds } = converted;
  const { samples, missingSamples } = copied;
  const { kind, inputs } = recording;
  const written = `${samples} samples of ${inputs} inputs`;
  return {
    facts: { kind, written, samples, inputs, ...lossFacts(recording, missingSamples), seconds },
    lines: [
      `${to}: ${written}, ${formatSeconds(seconds)}`,
      ...unknownFactLines(recording),
      ...lossLines(recording, missingSamples, 'they stay missing'),
    ],
  };
}
