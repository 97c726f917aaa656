// kandev-policy from C#, by P/Invoke alone: .NET and Mono, no unsafe code. Copy this file: it is all that a host needs
// beside the library.
//
//     using (var policy = new KandevPolicy.Policy(config))   // UTF-8 JSON; compiled once, shared by any number of threads
//         byte[] decision = policy.Evaluate(frame);
//
// An exception means the same to the caller as every status that is not OK in C: ask (deny, for an unattended reviewer).
using System;
using System.Runtime.InteropServices;
using System.Text;

namespace KandevPolicy
{
    /// <summary>No decision: ask.</summary>
    public class PolicyException : Exception
    {
        public PolicyException(string message) : base(message) { }
    }

    /// <summary>The config can't be used; the text names the key, the type found and the type expected.</summary>
    public class ConfigException : PolicyException
    {
        public ConfigException(string message) : base(message) { }
    }

    enum Status { Ok = 0, BufferTooSmall = 1, InvalidArgument = 2, BadConfig = 3, InternalError = 4 }

    static class Native
    {
        // The loader makes libkandev_policy.so (.dylib) of it.
        const string Library = "kandev_policy";
        public const uint AbiVersion = 1;

        [DllImport(Library)] public static extern uint kandev_policy_abi_version();
        [DllImport(Library)] public static extern IntPtr kandev_policy_version();
        [DllImport(Library)] public static extern IntPtr kandev_policy_decide(byte[] frame, byte[] config);
        [DllImport(Library)] public static extern IntPtr kandev_policy_explain(byte[] frame, byte[] config);
        [DllImport(Library)] public static extern void kandev_policy_string_free(IntPtr s);
        [DllImport(Library)] public static extern Status kandev_policy_new(
            byte[] config, UIntPtr configLength, out PolicyHandle policy, byte[] error, UIntPtr capacity, out UIntPtr size);
        [DllImport(Library)] public static extern Status kandev_policy_evaluate(
            PolicyHandle policy, byte[] frame, UIntPtr frameLength, byte[] buffer, UIntPtr capacity, out UIntPtr size);
        [DllImport(Library)] public static extern void kandev_policy_free(IntPtr policy);

        static Native()
        {
            if (kandev_policy_abi_version() != AbiVersion)
                throw new PolicyException("the library's ABI is " + kandev_policy_abi_version() + ", not " + AbiVersion);
        }
    }

    /// <summary>Frees the policy when the last call on it has returned, even if that comes after Dispose.</summary>
    sealed class PolicyHandle : SafeHandle
    {
        PolicyHandle() : base(IntPtr.Zero, true) { }
        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }
        protected override bool ReleaseHandle() { Native.kandev_policy_free(handle); return true; }
    }

    /// <summary>Decisions under a config that is used once.</summary>
    public static class Once
    {
        public static string Version { get { return Encoding.UTF8.GetString(Bytes(Native.kandev_policy_version())); } }

        public static byte[] Decide(byte[] frame, byte[] config)
        {
            return Take(Native.kandev_policy_decide(Terminated(frame), Terminated(config)));
        }

        /// <summary>As Decide, with what each step found.</summary>
        public static byte[] Explain(byte[] frame, byte[] config)
        {
            return Take(Native.kandev_policy_explain(Terminated(frame), Terminated(config)));
        }

        static byte[] Terminated(byte[] text)
        {
            if (Array.IndexOf(text, (byte)0) >= 0)
                throw new PolicyException("a NUL byte: the library would see another, shorter document");
            var terminated = new byte[text.Length + 1];
            text.CopyTo(terminated, 0);
            return terminated;
        }

        static byte[] Take(IntPtr json)
        {
            if (json == IntPtr.Zero)
                throw new PolicyException("no memory for the decision");
            try { return Bytes(json); }
            finally { Native.kandev_policy_string_free(json); }
        }

        static byte[] Bytes(IntPtr text)
        {
            int length = 0;
            while (Marshal.ReadByte(text, length) != 0)
                length++;
            var bytes = new byte[length];
            Marshal.Copy(text, bytes, 0, length);
            return bytes;
        }
    }

    /// <summary>A compiled config.</summary>
    public sealed class Policy : IDisposable
    {
        readonly PolicyHandle handle;

        public Policy(byte[] config)
        {
            var error = new byte[1024];
            UIntPtr size;
            Status status = Native.kandev_policy_new(
                config, (UIntPtr)config.Length, out handle, error, (UIntPtr)error.Length, out size);
            if (status == Status.BadConfig)
                throw new ConfigException(Encoding.UTF8.GetString(error, 0, (int)Math.Min((ulong)size, (ulong)error.Length)));
            if (status != Status.Ok)
                throw new PolicyException("status " + status);
        }

        public byte[] Evaluate(byte[] frame)
        {
            var buffer = new byte[1024];
            for (;;)
            {
                UIntPtr size;
                // A disposed handle throws ObjectDisposedException here.
                Status status = Native.kandev_policy_evaluate(
                    handle, frame, (UIntPtr)frame.Length, buffer, (UIntPtr)buffer.Length, out size);
                if (status == Status.Ok)
                {
                    Array.Resize(ref buffer, (int)size);
                    return buffer;
                }
                if (status != Status.BufferTooSmall)
                    throw new PolicyException("status " + status);
                buffer = new byte[(int)size];
            }
        }

        public void Dispose() { handle.Dispose(); }
    }
}
