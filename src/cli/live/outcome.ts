/** Exit codes of a live run: 0 if all products are written, 1 if none is, 2 if some are missing. */
import { textOf } from '../../messages/index.js';
import { refuse } from '../../core/errors.js';
import type { LiveOutcome, NightSummary } from '../../live/index.js';
import { lackingOf } from '../../observation/index.js';
import { PartlyDone } from '../report/outcome.js';

type Came = Pick<NightSummary, 'integrations' | 'images' | 'pictures' | 'files' | 'unwrittenIntegrations'>;

interface Asked {
  readonly out?: string;
  readonly image?: number;
  readonly picture: string;
}

/** The same for the result of runLive; reports each product that failed by itself. */
export function reportOutcome(
  { summary, observation: { products }, isStopped, failures, products: made }: LiveOutcome,
  say: (line: string) => void,
): void {
  for (const line of failures) say(line);
  const out = products.flatMap((one) => ('visibilities' in one ? [one.visibilities] : [])).at(0);
  const images = products.find((one) => 'images' in one);
  const picture = images?.images ?? undefined;
  reportCame(
    summary,
    {
      out: out ?? undefined,
      image: picture === undefined ? undefined : images?.every,
      picture: picture ?? '',
    },
    isStopped,
    say,
  );
  const lacking = [...failures, ...lackingOf(made)];
  if (lacking.length > 0) throw new PartlyDone(lacking.map(textOf).join('; '));
}

/** `stopped`: a user ended the run, by a signal or on the page; then no data is not an error. */
export function reportCame(
  came: Came,
  { out, image, picture }: Asked,
  stopped: boolean,
  say: (line: string) => void,
): void {
  const { integrations, images, pictures, files, unwrittenIntegrations: unwritten } = came;
  if (integrations === 0 && images === 0) {
    const what = `no data arrived for ${out === undefined ? 'an image' : 'an integration'}`;
    if (!stopped)
      refuse(
        'live',
        `${what}; nothing was written`,
        'the lines above say what arrived; docs/operate.md explains each',
      );
    say(`${what} before it was stopped; nothing was written`);
    return;
  }
  if (out !== undefined && unwritten > 0) {
    if (files.length === 0)
      refuse(
        out,
        'no integration was written; the lines above say why: a full disk, a folder that may not be written, or files that were removed',
        'make room, and leave files and folder where they are',
      );
    throw new PartlyDone(
      `${out}: ${unwritten} integrations were not written; the lines above say why: a full disk, a folder that may not be written, a file that was removed, or too many files within a minute`,
    );
  }
  if (image !== undefined && images > 0 && pictures === 0)
    throw new PartlyDone(`${picture}: none of ${images} images could be drawn`);
}
