// From `coordrooms install opencode`; `coordrooms uninstall opencode` takes it out.
//
// opencode has no command hooks. This plugin runs `coordrooms hook` at the moments that have one
// elsewhere, and hands on what it prints. Whatever goes wrong, the session goes on without it.

import { spawn } from "node:child_process"

const PROGRAM = @PROGRAM@
const TIMEOUT_MS = 10_000

const run = (event, sessionID, started = () => {}) =>
  new Promise((resolve) => {
    const words = [...PROGRAM.slice(1), "hook", event, "--host", "opencode"]
    const child = spawn(PROGRAM[0], words, { stdio: ["pipe", "pipe", "ignore"] })
    let output = ""
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (output += data))
    child.on("close", () => {
      try {
        resolve(JSON.parse(output).text ?? "")
      } catch {
        resolve("")
      }
    })
    started(child)
    child.stdin.end(JSON.stringify({ session_id: sessionID }))
  })

const hook = (event, sessionID) =>
  run(event, sessionID, (child) => setTimeout(() => child.kill(), TIMEOUT_MS).unref())

export const Coordrooms = async ({ client }) => {
  const begun = new Set()
  const waking = new Map()

  const wake = async (sessionID) => {
    if (waking.has(sessionID)) return
    waking.set(sessionID, undefined)
    const text = await run("session.idle", sessionID, (child) => {
      waking.set(sessionID, child)
      // It must not keep opencode from ending.
      child.unref()
      child.stdout.unref?.()
    })
    waking.delete(sessionID)
    if (!text) return
    const parts = [{ type: "text", text }]
    await client.session.promptAsync({ path: { id: sessionID }, body: { parts } })
  }

  process.on("exit", () => waking.forEach((child) => child?.kill()))

  return {
    event: async ({ event }) => {
      // Not awaited: it returns when there is news, which may be tomorrow.
      if (event.type === "session.idle") wake(event.properties.sessionID).catch(() => {})
      if (event.type === "session.deleted") waking.get(event.properties.info.id)?.kill()
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      waking.get(sessionID)?.kill()
      const texts = []
      if (!begun.has(sessionID)) texts.push(await hook("session.start", sessionID))
      begun.add(sessionID)
      texts.push(await hook("chat.message", sessionID))
      const text = texts.filter(Boolean).join("\n\n")
      if (!text) return
      // Ids rise with time in opencode, and a part sorts behind those that are there.
      const id = `${parts.at(-1)?.id ?? "prt_"}coordrooms`
      parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text })
    },
    "tool.execute.after": async ({ sessionID }, output) => {
      const text = await hook("tool.execute.after", sessionID)
      if (!text) return
      if (Array.isArray(output.content)) output.content.push({ type: "text", text })
      else output.output = `${output.output ?? ""}\n\n${text}`
    },
  }
}
