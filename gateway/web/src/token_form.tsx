import { useState } from "preact/hooks";

/** Asks for the token that the gateway wants; it stays in the memory of this page. */
export function TokenForm({ onToken }: { onToken: (token: string) => void }) {
  const [token, setToken] = useState("");
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        onToken(token);
      }}
    >
      <label for="token">This gateway wants a token:</label>
      <input id="token" type="password" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
      <button type="submit">Use it</button>
    </form>
  );
}
