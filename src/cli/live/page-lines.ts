/** The page's address, in lines for users. The token is shown only on a terminal, because others may read logs. */
import type { Page } from '../../serve/index.js';

export interface PageLineSettings {
  /** The file with the token, if there is one. */
  readonly tokenFile: string | undefined;
  /** The option that names such a file. */
  readonly tokenOption: string;
  readonly tokenIs: 'shown' | 'hidden';
  readonly shows?: string;
}

/** Whether lines go to a user at a terminal. */
export const tokenIsFor = ({ json }: { readonly json?: boolean }): 'shown' | 'hidden' =>
  json !== true && process.stderr.isTTY ? 'shown' : 'hidden';

export function pageLines(
  { url, steerUrl, isLocal }: Pick<Page, 'url' | 'steerUrl' | 'isLocal'>,
  { tokenFile, tokenOption, tokenIs, shows = 'the sky' }: PageLineSettings,
): string[] {
  const what = isLocal ? 'to steer' : 'to read and to steer';
  const where =
    tokenFile !== undefined
      ? `${url}; the token ${what} is in ${tokenFile}`
      : tokenIs === 'hidden'
        ? `${url}; the token ${what} is shown on a terminal alone: name a file for it with ${tokenOption}`
        : isLocal
          ? `${url}; to steer, at ${steerUrl}`
          : `${steerUrl}; anyone with this address can read and steer`;
  return [
    `${shows} is at ${where}`,
    ...(isLocal
      ? []
      : [
          'warning: other machines reach the page without encryption, and who sees the network sees the token; ' +
            'put a proxy with TLS in front of it (docs/page.md), or let it listen on 127.0.0.1',
        ]),
  ];
}
