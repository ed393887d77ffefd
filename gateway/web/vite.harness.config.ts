import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** The host of the browser test; it is not part of the wheel. */
export default defineConfig({
  root: "tests/harness",
  plugins: [viteSingleFile()],
  build: { outDir: "../../harness", emptyOutDir: true, rollupOptions: { input: "tests/harness/host.html" }, modulePreload: false, target: "es2022" },
});
