/** Every option and every pair of options for voltages: see every-option.ts. */
import { everyOption } from './every-option.js';

everyOption('voltages');
