// host.cpp - the same from C++.
#include <jaxvet.h>

#include <iostream>

int main()
{
    if (jaxvet_abi_version() != JAXVET_ABI_VERSION) {
        std::cerr << "host: the library and its header do not fit\n";
        return 1;
    }
    std::cout << "jaxvet " << jaxvet_version() << "\n";
}
