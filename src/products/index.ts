/** Entry point of `products`: what an observation can ask for. */
export {
  isProduct,
  productFields,
  productName,
  productNames,
  type Product,
  type ProductName,
} from './registry.js';
export { modelSources, solvingFields } from './solving.js';
