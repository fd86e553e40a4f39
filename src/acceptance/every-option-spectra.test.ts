/** Every option and every pair of them, of channelised data: see every-option.ts. */
import { everyOption } from './every-option.js';

everyOption('spectra');
