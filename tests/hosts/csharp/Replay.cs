// Replays the decision vectors, as vectors.py writes them to stdin, through the C# binding, and compares bytes.
using System;
using System.IO;
using System.Text;
using System.Threading;
using KandevPolicy;

static class Replay
{
    static int failures;

    static void Fail(string text)
    {
        Interlocked.Increment(ref failures);
        Console.Error.WriteLine(text);
    }

    static string Text(byte[] bytes) { return Encoding.UTF8.GetString(bytes); }

    static bool Begins(byte[] bytes, byte[] with, int length)
    {
        for (int i = 0; i < length; i++)
            if (i >= bytes.Length || bytes[i] != with[i])
                return false;
        return true;
    }

    static void Same(string id, string what, byte[] got, byte[] want)
    {
        if (got.Length != want.Length || !Begins(got, want, want.Length))
            Fail(id + ": " + what + "\n  got  " + Text(got) + "\n  want " + Text(want));
    }

    /// <summary>Whether it could go through NUL-terminated text.</summary>
    static bool OneShot(string id, byte[] config, byte[] input, byte[] expect)
    {
        if (Array.IndexOf(config, (byte)0) >= 0 || Array.IndexOf(input, (byte)0) >= 0)
        {
            try { Fail(id + ": decides with a NUL: " + Text(Once.Decide(input, config))); }
            catch (PolicyException) { }
            return false;
        }
        Same(id, "decide", Once.Decide(input, config), expect);
        byte[] explained = Once.Explain(input, config);
        if (!Begins(explained, expect, expect.Length - 1) || !Text(explained).Contains("\",\"trace\":["))
            Fail(id + ": explain gives " + Text(explained));
        return true;
    }

    /// <summary>Whether the config could be used.</summary>
    static bool Compiled(string id, byte[] config, byte[] input, byte[] expect)
    {
        try
        {
            using (var policy = new Policy(config))
                Same(id, "evaluate", policy.Evaluate(input), expect);
            return true;
        }
        catch (ConfigException error)
        {
            if (!Text(expect).Contains("\"reason\":\"malformed_config\"") || error.Message == "")
                Fail(id + ": the config is refused: " + error.Message);
            return false;
        }
    }

    /// <summary>One handle, many threads; and a call after Dispose.</summary>
    static void Threads(byte[] config, byte[] input, byte[] expect)
    {
        var policy = new Policy(config);
        var workers = new Thread[8];
        for (int i = 0; i < workers.Length; i++)
        {
            workers[i] = new Thread(() =>
            {
                for (int n = 0; n < 200; n++)
                    Same("threads", "evaluate", policy.Evaluate(input), expect);
            });
            workers[i].Start();
        }
        foreach (var worker in workers)
            worker.Join();
        policy.Dispose();
        try { Fail("a disposed policy decides: " + Text(policy.Evaluate(input))); }
        catch (ObjectDisposedException) { }
    }

    static byte[] Field(BinaryReader reader)
    {
        int length = reader.ReadInt32();
        byte[] field = reader.ReadBytes(length);
        if (field.Length != length)
            throw new EndOfStreamException();
        return field;
    }

    static int Main(string[] args)
    {
        int expected = int.Parse(args[0]), count = 0, texts = 0, handles = 0;
        byte[][] approved = null;
        // A pipe gives what there is; the buffer waits for what is asked for.
        using (var reader = new BinaryReader(new BufferedStream(Console.OpenStandardInput(), 1 << 16)))
        {
            for (; count < expected; count++)
            {
                string id = Text(Field(reader));
                byte[] config = Field(reader), input = Field(reader), expect = Field(reader);
                if (OneShot(id, config, input, expect))
                    texts++;
                if (Compiled(id, config, input, expect))
                {
                    handles++;
                    if (input.Length < 4096 && Text(expect).Contains("\"reason\":\"injected_mcp\""))
                        approved = new[] { config, input, expect };
                }
            }
        }
        Threads(approved[0], approved[1], approved[2]);
        Console.WriteLine("C#, library {0}: {1} vectors, {2} as text, {3} with a handle", Once.Version, count, texts, handles);
        return failures == 0 ? 0 : 1;
    }
}
