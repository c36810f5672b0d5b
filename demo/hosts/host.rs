//! host.rs - a program without Python that runs what JAX exported.
//!
//!     host PLUGIN ARRAYS FUNCTION DERIVATIVE
//!
//! Loads a plugin of PJRT, compiles two modules of StableHLO, runs them on the arrays
//! of a file and holds what comes out against what JAX computed.  It needs no crate:
//! what it knows of the interface stands in `mod pjrt`.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::time::Instant;
use std::{env, fs, mem, process, ptr};

/// What a function fails with; an error of the plugin is one of these, too.
type Failure = Box<dyn std::error::Error>;

// ---- the interface, as far as it is used

mod pjrt {
    use super::{c_char, c_int, c_void};

    /// The head of each structure of arguments.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Head {
        pub struct_size: usize,
        pub extension_start: *mut c_void,
    }

    pub type Function = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

    /// The table; `functions` holds as many as there are.
    #[repr(C)]
    pub struct Api {
        pub head: Head,
        pub version_head: Head,
        pub major: c_int,
        pub minor: c_int,
        pub functions: [Option<Function>; LAST + 1],
    }

    // Places in the table.
    pub const ERROR_DESTROY: usize = 0;
    pub const ERROR_MESSAGE: usize = 1;
    pub const PLUGIN_INITIALIZE: usize = 3;
    pub const EVENT_DESTROY: usize = 5;
    pub const EVENT_AWAIT: usize = 8;
    pub const CLIENT_CREATE: usize = 10;
    pub const CLIENT_DESTROY: usize = 11;
    pub const CLIENT_ADDRESSABLE_DEVICES: usize = 16;
    pub const CLIENT_COMPILE: usize = 20;
    pub const CLIENT_BUFFER_FROM_HOST_BUFFER: usize = 22;
    pub const EXECUTABLE_DESTROY: usize = 40;
    pub const EXECUTABLE_NUM_OUTPUTS: usize = 44;
    pub const LOADED_EXECUTABLE_DESTROY: usize = 50;
    pub const LOADED_EXECUTABLE_GET_EXECUTABLE: usize = 51;
    pub const LOADED_EXECUTABLE_EXECUTE: usize = 55;
    pub const BUFFER_DESTROY: usize = 58;
    pub const BUFFER_TO_HOST_BUFFER: usize = 70;
    pub const LAST: usize = BUFFER_TO_HOST_BUFFER;

    pub const PRED: c_int = 1;
    pub const F32: c_int = 11;

    /// Structures of arguments begin with a head and are zero where nothing is said.
    macro_rules! arguments {
        ($($name:ident { $($field:ident: $type:ty),* })*) => { $(
            #[repr(C)]
            pub struct $name { pub head: Head, $(pub $field: $type),* }
        )* };
    }

    arguments! {
        Nothing {}
        // Of a function about one object, and what it says.
        Object { object: *mut c_void }
        Message { error: *mut c_void, message: *const u8, message_size: usize }
        ClientCreate {
            create_options: *const c_void, num_options: usize,
            kv_get_callback: *mut c_void, kv_get_user_arg: *mut c_void,
            kv_put_callback: *mut c_void, kv_put_user_arg: *mut c_void,
            client: *mut c_void, kv_try_get_callback: *mut c_void,
            kv_try_get_user_arg: *mut c_void
        }
        Devices { client: *mut c_void, devices: *const *mut c_void, num_devices: usize }
        Program {
            code: *const u8, code_size: usize, format: *const c_char, format_size: usize
        }
        Compile {
            client: *mut c_void, program: *const Program, compile_options: *const u8,
            compile_options_size: usize, executable: *mut c_void
        }
        FromHost {
            client: *mut c_void, data: *const u8, element_type: c_int,
            dims: *const i64, num_dims: usize, byte_strides: *const i64,
            num_byte_strides: usize, host_buffer_semantics: c_int,
            device: *mut c_void, memory: *mut c_void, device_layout: *const c_void,
            done_with_host_buffer: *mut c_void, buffer: *mut c_void
        }
        GetExecutable { loaded: *mut c_void, executable: *mut c_void }
        NumOutputs { executable: *mut c_void, num_outputs: usize }
        ExecuteOptions {
            send_callbacks: *mut c_void, recv_callbacks: *mut c_void,
            num_send_ops: usize, num_recv_ops: usize, launch_id: c_int,
            non_donatable_input_indices: *const i64,
            num_non_donatable_input_indices: usize, context: *mut c_void
        }
        Execute {
            executable: *mut c_void, options: *const ExecuteOptions,
            argument_lists: *const *const *mut c_void, num_devices: usize,
            num_args: usize, output_lists: *const *mut *mut c_void,
            device_complete_events: *mut *mut c_void, execute_device: *mut c_void
        }
        ToHost {
            src: *mut c_void, host_layout: *const c_void, dst: *mut u8,
            dst_size: usize, event: *mut c_void
        }
    }
}

/// Arguments with their size, all else zero.
fn arguments<T>() -> T {
    // SAFETY: integers, pointers and a head of both; zero is a value of each.
    let mut zero: T = unsafe { mem::zeroed() };
    let head = &mut zero as *mut T as *mut pjrt::Head;
    // SAFETY: a head is what each begins with.
    unsafe { (*head).struct_size = mem::size_of::<T>() };
    zero
}

// ---- the plugin, and what it owns

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
    fn dlerror() -> *const c_char;
}
const RTLD_NOW: c_int = 2;

struct Plugin {
    library: *mut c_void,
    api: *const pjrt::Api,
}

impl Drop for Plugin {
    fn drop(&mut self) {
        // SAFETY: nothing of it is alive any more: what is borrows the plugin.
        unsafe { dlclose(self.library) };
    }
}

impl Plugin {
    fn load(path: &str) -> Result<Plugin, Failure> {
        let name = CString::new(path)?;
        // SAFETY: the path ends with a NUL, and so does what dlerror() gives.
        let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
        if library.is_null() {
            return Err(unsafe { CStr::from_ptr(dlerror()) }.to_str()?.into());
        }
        let mut plugin = Plugin { library, api: ptr::null() };
        let get = unsafe { dlsym(library, c"GetPjrtApi".as_ptr()) };
        if get.is_null() {
            return Err(format!("{path}: not a plugin of PJRT").into());
        }
        // SAFETY: that is what a function of this name is.
        let get: extern "C" fn() -> *const pjrt::Api = unsafe { mem::transmute(get) };
        plugin.api = get();
        // SAFETY: the head of the table never changes.
        let (size, major) =
            unsafe { ((*plugin.api).head.struct_size, (*plugin.api).major) };
        if major != 0 || size < mem::size_of::<pjrt::Api>() {
            return Err(format!("{path}: speaks another version of PJRT").into());
        }
        plugin.call(pjrt::PLUGIN_INITIALIZE, &mut arguments::<pjrt::Nothing>())?;
        Ok(plugin)
    }

    /// Calls a function of the table.
    fn call<T>(&self, function: usize, args: &mut T) -> Result<(), Failure> {
        // SAFETY: the table has it, and `T` is what it takes.
        let error = unsafe {
            let function = (*self.api).functions[function];
            function.ok_or("the plugin lacks a function")?(args as *mut T as *mut c_void)
        };
        if error.is_null() { Ok(()) } else { Err(self.take(error)) }
    }

    /// An error's text; the error is gone after it.
    fn take(&self, object: *mut c_void) -> Failure {
        let _owned = Owned { plugin: self, object, destroy: pjrt::ERROR_DESTROY };
        let mut args: pjrt::Message = arguments();
        args.error = object;
        match self.call(pjrt::ERROR_MESSAGE, &mut args) {
            // SAFETY: the text is the error's, which is alive.
            Ok(()) => unsafe {
                let text = std::slice::from_raw_parts(args.message, args.message_size);
                String::from_utf8_lossy(text).into_owned().into()
            },
            Err(failure) => failure,
        }
    }

    fn own(&self, object: *mut c_void, destroy: usize) -> Owned<'_> {
        Owned { plugin: self, object, destroy }
    }

    /// Waits for an event, which is gone after it.
    fn wait(&self, event: *mut c_void) -> Result<(), Failure> {
        let _owned = self.own(event, pjrt::EVENT_DESTROY);
        let mut args: pjrt::Object = arguments();
        args.object = event;
        self.call(pjrt::EVENT_AWAIT, &mut args)
    }
}

/// An object of the plugin's, and the function that destroys it.
struct Owned<'a> {
    plugin: &'a Plugin,
    object: *mut c_void,
    destroy: usize,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let mut args: pjrt::Object = arguments();
        args.object = self.object;
        // Destroying what exists does not fail.
        let _ = self.plugin.call(self.destroy, &mut args);
    }
}

// ---- what is done with a client

struct Host<'a> {
    plugin: &'a Plugin,
    client: Owned<'a>,
    device: *mut c_void,
}

impl<'a> Host<'a> {
    fn new(plugin: &'a Plugin) -> Result<Host<'a>, Failure> {
        let mut create: pjrt::ClientCreate = arguments();
        plugin.call(pjrt::CLIENT_CREATE, &mut create)?;
        let client = plugin.own(create.client, pjrt::CLIENT_DESTROY);
        let mut args: pjrt::Devices = arguments();
        args.client = client.object;
        plugin.call(pjrt::CLIENT_ADDRESSABLE_DEVICES, &mut args)?;
        if args.num_devices == 0 {
            return Err("the plugin has no device".into());
        }
        // SAFETY: there is one, and the list is the client's.
        let device = unsafe { *args.devices };
        Ok(Host { plugin, client, device })
    }

    fn compile(&self, path: &str) -> Result<Owned<'a>, Failure> {
        // CompileOptionsProto, of which executable_build_options (3) says one
        // replica (4) of one partition (5).
        const OPTIONS: [u8; 6] = [3 << 3 | 2, 4, 4 << 3, 1, 5 << 3, 1];
        let module = read(path)?;
        let mut program: pjrt::Program = arguments();
        program.code = module.as_ptr();
        program.code_size = module.len();
        program.format = c"mlir".as_ptr();
        program.format_size = 4;
        let mut args: pjrt::Compile = arguments();
        args.client = self.client.object;
        args.program = &program;
        args.compile_options = OPTIONS.as_ptr();
        args.compile_options_size = OPTIONS.len();
        self.plugin.call(pjrt::CLIENT_COMPILE, &mut args)?;
        Ok(self.plugin.own(args.executable, pjrt::LOADED_EXECUTABLE_DESTROY))
    }

    fn put(&self, array: &Array) -> Result<Owned<'a>, Failure> {
        let mut args: pjrt::FromHost = arguments();
        args.client = self.client.object;
        args.data = array.bytes.as_ptr();
        args.element_type = array.element_type;
        args.dims = array.dims.as_ptr();
        args.num_dims = array.dims.len();
        args.device = self.device; // the host's bytes may change after the call
        self.plugin.call(pjrt::CLIENT_BUFFER_FROM_HOST_BUFFER, &mut args)?;
        let buffer = self.plugin.own(args.buffer, pjrt::BUFFER_DESTROY);
        self.plugin.wait(args.done_with_host_buffer)?;
        Ok(buffer)
    }

    fn count_outputs(&self, loaded: &Owned) -> Result<usize, Failure> {
        let mut get: pjrt::GetExecutable = arguments();
        get.loaded = loaded.object;
        self.plugin.call(pjrt::LOADED_EXECUTABLE_GET_EXECUTABLE, &mut get)?;
        let executable = self.plugin.own(get.executable, pjrt::EXECUTABLE_DESTROY);
        let mut args: pjrt::NumOutputs = arguments();
        args.executable = executable.object;
        self.plugin.call(pjrt::EXECUTABLE_NUM_OUTPUTS, &mut args)?;
        Ok(args.num_outputs)
    }

    fn run(&self, executable: &Owned, inputs: &[Owned]) -> Result<Vec<Owned<'a>>, Failure> {
        let taken: Vec<_> = inputs.iter().map(|input| input.object).collect();
        let mut given = vec![ptr::null_mut(); self.count_outputs(executable)?];
        // A list of buffers per device, and there is one device.
        let (taken_lists, given_lists) = ([taken.as_ptr()], [given.as_mut_ptr()]);
        let mut done = [ptr::null_mut()];
        let options: pjrt::ExecuteOptions = arguments();
        let mut args: pjrt::Execute = arguments();
        args.executable = executable.object;
        args.options = &options;
        args.argument_lists = taken_lists.as_ptr();
        args.num_devices = 1;
        args.num_args = taken.len();
        args.output_lists = given_lists.as_ptr();
        args.device_complete_events = done.as_mut_ptr();
        self.plugin.call(pjrt::LOADED_EXECUTABLE_EXECUTE, &mut args)?;
        let own = |buffer| self.plugin.own(buffer, pjrt::BUFFER_DESTROY);
        let results = given.into_iter().map(own).collect();
        self.plugin.wait(done[0])?;
        Ok(results)
    }

    fn get(&self, buffer: &Owned) -> Result<Vec<u8>, Failure> {
        let mut args: pjrt::ToHost = arguments();
        args.src = buffer.object;
        self.plugin.call(pjrt::BUFFER_TO_HOST_BUFFER, &mut args)?; // how many bytes
        let mut bytes = vec![0; args.dst_size];
        args.dst = bytes.as_mut_ptr();
        self.plugin.call(pjrt::BUFFER_TO_HOST_BUFFER, &mut args)?;
        self.plugin.wait(args.event)?;
        Ok(bytes)
    }
}

// ---- files

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|why| format!("{path}: {why}").into())
}

struct Array {
    element_type: c_int,
    dims: Vec<i64>,
    bytes: Vec<u8>,
}

/// Reads what make.py wrote.
struct Reader {
    bytes: Vec<u8>,
    at: usize,
}

impl Reader {
    fn take(&mut self, size: usize) -> Result<&[u8], Failure> {
        let from = self.at;
        self.at += size;
        self.bytes.get(from..self.at).ok_or("the file of arrays is cut off".into())
    }

    fn int(&mut self) -> Result<c_int, Failure> {
        Ok(c_int::from_le_bytes(self.take(4)?.try_into()?))
    }

    fn array(&mut self) -> Result<Array, Failure> {
        let (element_type, rank) = (self.int()?, self.int()?);
        let mut dims = Vec::new();
        for _ in 0..rank {
            dims.push(i64::from_le_bytes(self.take(8)?.try_into()?));
        }
        let item = if element_type == pjrt::PRED { 1 } else { 4 };
        let size = dims.iter().product::<i64>() as usize * item;
        let bytes = self.take(size)?.to_vec();
        Ok(Array { element_type, dims, bytes })
    }

    /// What the function takes and gives, cotangents of that, and gradients.
    fn groups(&mut self) -> Result<[Vec<Array>; 4], Failure> {
        let counts = [self.int()?, self.int()?, self.int()?, self.int()?];
        let mut groups = counts.map(|_| Vec::new());
        for (group, count) in groups.iter_mut().zip(counts) {
            for _ in 0..count {
                group.push(self.array()?);
            }
        }
        Ok(groups)
    }
}

// ---- against JAX

/// How far an array is from the expected one, beside the size of that.
fn distance(expected: &Array, found: &[u8]) -> f32 {
    if found.len() != expected.bytes.len() || expected.element_type != pjrt::F32 {
        return if found == expected.bytes { 0.0 } else { f32::INFINITY };
    }
    let floats = |bytes: &[u8]| -> Vec<f32> {
        let one = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        bytes.chunks_exact(4).map(one).collect()
    };
    let pairs = floats(found).into_iter().zip(floats(&expected.bytes));
    let far = pairs.map(|(a, b)| (a - b).abs() / (1.0 + b.abs()));
    far.fold(0.0, |most, far| if far <= most { most } else { far }) // a NaN counts
}

fn compare(
    host: &Host, name: &str, found: &[Owned], expected: &[Array],
) -> Result<bool, Failure> {
    if found.len() != expected.len() {
        return Err(format!("{name}: gives another number of results").into());
    }
    let mut most = 0f32;
    for (buffer, array) in found.iter().zip(expected) {
        let far = distance(array, &host.get(buffer)?);
        most = if far <= most { most } else { far };
    }
    println!("{name}: {} results, at most {most:.1e} from JAX's", found.len());
    Ok(most < TOLERANCE)
}

const TOLERANCE: f32 = 1e-4;

fn run(paths: &[String; 4], begun: Instant) -> Result<bool, Failure> {
    let plugin = Plugin::load(&paths[0])?;
    let host = Host::new(&plugin)?;
    let [taken, given, cotangents, gradients] =
        Reader { bytes: read(&paths[1])?, at: 0 }.groups()?;
    let (function, derivative) = (host.compile(&paths[2])?, host.compile(&paths[3])?);

    let mut inputs = Vec::new();
    for array in &taken {
        inputs.push(host.put(array)?);
    }
    let mut same = compare(&host, "function", &host.run(&function, &inputs)?, &given)?;
    for array in &cotangents {
        inputs.push(host.put(array)?);
    }
    let found = host.run(&derivative, &inputs)?;
    same &= compare(&host, "derivative", &found, &gradients)?;
    println!("{:.1} ms since main", begun.elapsed().as_secs_f64() * 1e3);
    Ok(same)
}

fn main() {
    let begun = Instant::now();
    let paths: Result<[String; 4], _> = env::args().skip(1).collect::<Vec<_>>().try_into();
    let Ok(paths) = paths else {
        eprintln!("usage: host PLUGIN ARRAYS FUNCTION DERIVATIVE");
        process::exit(2);
    };
    match run(&paths, begun) {
        Ok(same) => process::exit(if same { 0 } else { 1 }),
        Err(failure) => {
            eprintln!("host: {failure}");
            process::exit(3);
        }
    }
}
