import { openReference } from '../backend/reference.js';
import { kurtosisCases } from './cases.js';

kurtosisCases(() => Promise.resolve(openReference()));
