/** The page of a live run: a browser shows the sky and steers. */
import { z } from 'zod';
import { field, inputPath, whole, withForm, words } from '../../fields/index.js';

const group = 'Page';

const address = withForm(
  z
    .union([z.literal(false), whole.min(1).max(65_535), words('PORT or HOST:PORT')])
    .transform((given) => (given === false ? given : String(given))),
  { words: 'a port, like 8080, a host and a port, like "127.0.0.1:8080", or false for no page' },
);

export const pageFields = z.strictObject({
  address: field(address, {
    flag: '--page <address>',
    negatable: 'no page',
    group,
    changes: 'never',
    help: 'address of the page, PORT or HOST:PORT; a browser sees the sky there and steers',
    otherwise: '127.0.0.1:8080, or a free port; none for a capture',
  }),
  names: field(z.array(words('a host name')).min(1), {
    flag: '--page-name <name...>',
    group,
    changes: 'never',
    help: 'further host names by which the page is reached, behind a proxy',
    otherwise: 'none',
  }),
  'token-file': field(inputPath, {
    flag: '--token-file <path>',
    group,
    changes: 'never',
    help: 'file with the token that steering needs; made where there is none',
    otherwise: 'shown on a terminal',
  }),
  'alarm-url': field(words('a web address'), {
    flag: '--alarm-url <url>',
    group,
    changes: 'never',
    help: 'address that gets each alarm as JSON (POST) when it comes up and when it is over',
    otherwise: 'none',
  }),
});
/** A bare address, or false. */
export const page = z.union([pageFields, address.transform((given): PagePart => ({ address: given }))]);
type PagePart = z.output<typeof pageFields>;
