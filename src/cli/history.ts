/** What made a file: carried in its header, so that it can be made again. */
import { version } from './version.js';

export const history = (): string[] => [
  `corella ${version()}`,
  `corella ${process.argv.slice(2).join(' ')}`.trim(),
];
