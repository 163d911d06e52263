import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importedPackages } from '../support/product-packages.ts';
import { readDocument } from './documents.ts';

const packageSchema = z.object({
  dependencies: z.record(z.string(), z.string()).optional(),
  integrity: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
});
const lockSchema = z.object({ packages: z.record(z.string(), packageSchema) });
const lock = lockSchema.parse(JSON.parse(readDocument('package-lock.json').text));
const installed = Object.entries(lock.packages).filter(([path]) => path !== '');

/** The packages that the program imports, and all that these need. */
function productPackages(): readonly string[] {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const next of Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {})) {
      visit(next);
    }
  };
  for (const name of importedPackages()) visit(name);
  return [...found];
}

describe('what docs/security.md says of packages', () => {
  it('holds: each package of the product has a hash', () => {
    const product = productPackages();

    expect(product.length).toBeGreaterThan(importedPackages().length);
    expect(
      product.filter((name) => lock.packages[`node_modules/${name}`]?.integrity === undefined),
    ).toEqual([]);
  });

  it('holds: none runs code when it is installed', () => {
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  });

  it('holds: versions in package.json are exact', () => {
    const manifest = z
      .object({
        devDependencies: z.record(z.string(), z.string()),
      })
      .parse(JSON.parse(readDocument('package.json').text));
    const versions = Object.values(manifest.devDependencies);

    expect(versions.length).toBeGreaterThan(10);
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});
